"""Looking after the files of tables: compacting, old rows, garbage."""
