"""Whether a recorded result may be reused: every decision comes with its reason."""
