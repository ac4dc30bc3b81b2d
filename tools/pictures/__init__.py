"""The pictures of the docs, each drawn from what the playground really says."""
