"""What other engines make of Spark SQL: a table of functions, one of forms, and portable ways."""
