"""Drift: what sources or tables are now, compared with what was declared or recorded."""
