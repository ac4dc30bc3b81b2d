---toml
[strategy]
type = "merge"
unique_key = ["email"]
---
SELECT id, email FROM people
