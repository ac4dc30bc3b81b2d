"""Relations of a plan as layers of SQL: one file a family, one rule a kind, `table` the list."""
