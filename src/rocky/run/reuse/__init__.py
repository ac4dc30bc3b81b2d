"""Whether a recorded result may stand for a build: every decision comes with its reason."""
