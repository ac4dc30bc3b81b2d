-- expect: E057
SELECT id, email, born FROM people
