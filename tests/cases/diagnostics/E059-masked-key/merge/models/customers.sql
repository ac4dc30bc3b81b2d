---toml
[strategy]
type = "merge"
unique_key = ["email"]
---
-- expect: E059
SELECT id, email FROM people
