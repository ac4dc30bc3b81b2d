"""The Delta log of one table: its lines, what they add up to, and how the next version is made."""
