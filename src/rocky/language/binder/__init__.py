"""The binder: syntax to typed facts. `query` is the way in, `logic` compares two texts."""
