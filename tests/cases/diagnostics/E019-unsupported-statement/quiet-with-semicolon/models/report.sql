-- One query; the mark at its end is no second statement.
SELECT order_id FROM raw.orders;
