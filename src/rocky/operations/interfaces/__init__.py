"""What projects publish for each other, and import of each other."""
