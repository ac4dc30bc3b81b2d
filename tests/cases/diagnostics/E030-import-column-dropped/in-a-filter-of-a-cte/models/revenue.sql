WITH paid AS (
  SELECT o.order_id
  FROM lake.shop.orders AS o
  -- expect: E030
  WHERE o.amount > 0
)
SELECT order_id FROM paid
