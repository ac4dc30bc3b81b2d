-- expect: E057
SELECT id, email FROM people
