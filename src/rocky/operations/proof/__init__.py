"""Records held against tables: verify, seals, replay, tables that others have changed."""
