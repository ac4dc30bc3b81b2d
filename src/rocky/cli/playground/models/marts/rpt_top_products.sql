-- The three products of each category that sell best.
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
QUALIFY position <= 3
