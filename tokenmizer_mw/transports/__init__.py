"""Calls to models: transports and hooks that remember the chats they carry. One implementation, a face a library."""
