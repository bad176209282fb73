"""What calls cost, what they would have cost, and what each stage saved, net of the providers' prompt caches."""
