"""Rules that bind queries, one clause a file."""
