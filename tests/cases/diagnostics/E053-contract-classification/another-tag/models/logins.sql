SELECT lower(email) AS login FROM raw.people
