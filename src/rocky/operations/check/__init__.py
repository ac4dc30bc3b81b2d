"""Judging a project without running it: compile, CI, validate, layout, the SQL that would run."""
