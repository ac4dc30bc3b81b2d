"""What sources have now: discovered and declared, and how they differ from their copies."""
