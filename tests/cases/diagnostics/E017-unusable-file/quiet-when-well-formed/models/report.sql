---toml
intent = "all orders"

[target]
table = "order_report"
---
SELECT order_id FROM raw.orders
