"""Branches of the tables: made, shown, compared, approved, promoted, reverted and deleted."""
