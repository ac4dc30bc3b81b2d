"""Parquet files: from what Spark staged to files named by their bytes, and rows read back."""
