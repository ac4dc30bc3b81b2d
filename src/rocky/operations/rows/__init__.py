"""Rows that people look at: of a table, of a query, as a DataFrame; and what is hidden in them."""
