"""The state between runs: shown, changed, restored."""
