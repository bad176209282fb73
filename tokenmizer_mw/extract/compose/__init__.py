"""The labels of findings: complete those that are too short to be understood later, clean and check all of them."""
