"""Lints: adjustable rules over a model's output, over its settings, and over the graph."""
