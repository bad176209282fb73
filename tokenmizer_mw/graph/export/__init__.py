"""Export a session graph as pictures, pages and files, for people and other programs. Pure: no I/O."""
