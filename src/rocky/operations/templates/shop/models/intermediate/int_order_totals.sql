-- One row an order: its lines added up.
SELECT
  order_id,
  count(*) AS line_count,
  sum(quantity) AS units,
  sum(line_amount) AS lines_amount,
  max(line_amount) AS largest_line
FROM stg_order_items
GROUP BY order_id
