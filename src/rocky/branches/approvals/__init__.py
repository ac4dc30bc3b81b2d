"""Approvals: signed statements of what may be promoted, checked before it is."""
