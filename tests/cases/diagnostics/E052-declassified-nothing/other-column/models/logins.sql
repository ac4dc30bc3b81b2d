SELECT id, id AS login FROM raw.people
