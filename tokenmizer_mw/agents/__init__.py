"""For coding agents: the MCP server, the hooks, and the installation of both into an agent's configuration."""
