"""Checks of a pipeline's tables: asked after all copies, and never passed by accident."""
