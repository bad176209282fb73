"""The memory as a server of the Model Context Protocol: tools, resources and a prompt. Needs the extra ``mcp``.

``backing`` is where sessions are looked up, ``server`` is what clients see of them, ``serving`` runs it.
"""
