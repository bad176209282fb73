"""The reference proxy: the middleware in front of a relay to the providers."""
