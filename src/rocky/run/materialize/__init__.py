"""How a model's table is brought up to date: one strategy a file."""
