"""For coding agents (such as Claude Code or Codex): the MCP server, the hooks (commands that an agent runs at events of
a session), and the installation of both into an agent's configuration."""
