"""Rules that bind expressions, one family a file."""
