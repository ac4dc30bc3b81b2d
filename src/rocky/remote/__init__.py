"""Remote state: the ledger kept in an object store or Valkey, never overwritten blindly."""
