"""Before anything is built: who asks, what is open, what is claimed, and what is read, pinned."""
