"""The ledger: what ran, what it read and wrote, what it cost. The only home of sqlite3."""
