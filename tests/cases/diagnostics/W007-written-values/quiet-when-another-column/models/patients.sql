SELECT id, ward, diagnosis AS found FROM raw.people
