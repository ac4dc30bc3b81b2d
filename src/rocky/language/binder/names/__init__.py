"""The names Spark generates for output columns, printed from resolved expressions."""
