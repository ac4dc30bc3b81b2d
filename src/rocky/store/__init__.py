"""Content-addressed Delta tables: files named by the BLAKE3 of their bytes, one commit a change.

From the bottom up: `data_file`, `location` and `objects` are bytes at a place; `delta` is the log
of one table; `warehouse` is all tables below one root; `parquet`, `iceberg`, `clone`, `journal`,
`anchor` and `file_usage` work on its tables.
"""
