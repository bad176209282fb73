"""A session graph for people and for other programs: pictures, pages and files. Pure: a graph in, text out."""
