SELECT email FROM customers UNION ALL SELECT email FROM people
