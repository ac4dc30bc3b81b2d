"""Evidence: the hashes a record is checked by, and the check of records against tables."""
