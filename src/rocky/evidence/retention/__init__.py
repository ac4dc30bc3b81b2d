"""Retention: files and runs that nothing needs any more, found, removed and recorded."""
