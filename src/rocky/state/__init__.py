"""Remote state: the ledger in an object store or Valkey, never overwritten blindly."""
