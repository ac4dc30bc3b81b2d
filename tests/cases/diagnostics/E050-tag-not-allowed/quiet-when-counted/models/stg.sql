SELECT id, email FROM raw.people
