---toml
[strategy]
type = "incremental"
timestamp_column = "born"
---
-- expect: E059
SELECT id, born FROM people
