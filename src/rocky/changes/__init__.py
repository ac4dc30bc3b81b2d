"""Changes between two states of a project's tables, and which of them break readers."""
