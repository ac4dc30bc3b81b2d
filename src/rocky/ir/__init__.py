"""The typed facts of a model, and hashes of their meaning."""
