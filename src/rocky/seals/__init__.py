"""Signed heads of a ledger: made with a person's key, found again, and judged."""
