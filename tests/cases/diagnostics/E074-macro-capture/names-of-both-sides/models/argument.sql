SELECT o.order_id,
-- expect: E074
  @customers_in(country) AS neighbours
FROM raw.orders AS o JOIN raw.customers AS c ON c.customer_id = o.customer_id
