"""Coding agents: the MCP server, the hooks, and their installation into an agent's configuration."""
