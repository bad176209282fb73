"""Coding agents: the MCP server, the hooks, and installation into an agent's configuration."""
