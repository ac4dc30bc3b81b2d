"""Collecting: files that nothing needs any more, found, removed and recorded."""
