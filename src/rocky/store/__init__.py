"""Content-addressed Delta tables: files named by the BLAKE3 of their bytes, one commit a change."""
