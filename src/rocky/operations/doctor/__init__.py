"""Doctor: whether a project can run here, said before anything runs."""
