"""Promotion: production moved to other content of its tables, all of them or none."""
