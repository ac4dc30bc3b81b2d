-- The three products of each category that sell best.
WITH ranked AS (
  SELECT
    products.category,
    products.sku,
    products.title,
    sum(items.quantity) AS units,
    sum(items.line_amount) AS revenue,
    row_number() OVER (
      PARTITION BY products.category
      ORDER BY sum(items.line_amount) DESC, products.sku
    ) AS position
  FROM stg_order_items AS items
  JOIN products ON products.sku = items.sku
  JOIN stg_orders AS orders ON orders.order_id = items.order_id
  GROUP BY products.category, products.sku, products.title
)

SELECT category, position, sku, title, units, revenue
FROM ranked
WHERE position <= 3
