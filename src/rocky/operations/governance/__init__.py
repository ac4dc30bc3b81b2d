"""Who may see what: compliance, catalogues, declassification, erasure."""
