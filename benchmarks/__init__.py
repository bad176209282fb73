"""Benchmarks: ``python -m benchmarks`` runs them and writes versioned JSON to ``benchmarks/results/``."""
