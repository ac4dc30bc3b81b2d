SELECT id, email, born FROM people
