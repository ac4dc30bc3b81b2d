"""SQL text to syntax trees with spans; the only home of the parser library besides the binder."""
