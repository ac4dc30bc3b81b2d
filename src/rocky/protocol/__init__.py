"""The protocol: every question that a page, an editor or an assistant asks of a project, once."""
