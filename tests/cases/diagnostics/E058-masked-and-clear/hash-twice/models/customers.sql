SELECT id, email FROM people
