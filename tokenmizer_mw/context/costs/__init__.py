"""The cost of calls with and without this package, and what each stage saved, net of the providers' prompt caches."""
