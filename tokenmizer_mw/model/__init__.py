"""Types that all other parts share: messages, events, nodes, sessions. Imports nothing else of the package."""
