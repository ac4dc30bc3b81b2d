SELECT
  order_id,
  To_Char(amount, '999.99') AS euros
FROM raw.orders
