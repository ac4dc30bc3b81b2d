FROM raw.orders |> WHERE amount > 1 |> SELECT order_id, amount::int AS amount;
