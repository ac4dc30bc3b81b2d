"""What happened, as the ledger keeps it: executions, commits, provenance, the report."""
