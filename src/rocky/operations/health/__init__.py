"""Whether a project can run here: the checks of `rocky doctor`."""
