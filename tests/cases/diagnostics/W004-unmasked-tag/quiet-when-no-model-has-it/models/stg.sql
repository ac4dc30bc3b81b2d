SELECT id FROM raw.people
