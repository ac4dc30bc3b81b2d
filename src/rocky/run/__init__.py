"""Runs: models built in the order of the graph, each recorded as it ends."""
