SELECT o.order_id,
  -- expect: W001
  CASE WHEN o.order_id < l.product_code THEN 1 ELSE 2 END AS side
FROM raw.orders AS o
JOIN raw.lines AS l ON o.order_id = l.order_id
