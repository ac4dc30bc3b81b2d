SELECT
  order_id,
  line_number,
  upper(sku) AS sku,
  quantity,
  unit_price,
  quantity * unit_price AS line_amount
FROM raw.order_items
