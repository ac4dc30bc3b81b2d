"""Branches of the tables: made without copying, approved with signatures, promoted as one."""
