"""Two compilations compared: what changed, what breaks, and everything it reaches."""
