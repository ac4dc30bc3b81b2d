"""Which pipelines one invocation takes, and in which order."""
