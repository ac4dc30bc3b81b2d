"""Plans that are kept: what would happen, by its hash, and carried out only as it says."""
