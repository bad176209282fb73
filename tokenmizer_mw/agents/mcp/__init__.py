"""The memory as an MCP server (Model Context Protocol): tools, resources and a prompt. Needs the extra ``mcp``.

``backing`` gives access to sessions, ``server`` defines what clients see, ``serving`` runs the server.
"""
