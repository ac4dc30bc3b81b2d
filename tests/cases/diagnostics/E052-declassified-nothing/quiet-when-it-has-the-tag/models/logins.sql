SELECT id, lower(email) AS login FROM raw.people
