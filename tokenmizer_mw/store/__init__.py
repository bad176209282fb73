"""Where session logs are kept: the port, and the stores that fulfil it."""
