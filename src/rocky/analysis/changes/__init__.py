"""Two states of tables or of a whole project compared: what changed, what breaks readers."""
