---toml
# Front matter: a sidecar inside the model's own file.
intent = "One row an order, with everything needed to judge it"

[strategy]
type = "merge"
unique_key = ["order_id"]
---
WITH countries_of AS (
  SELECT
    customers.customer_id,
    countries.country,
    countries.currency,
    countries.vat_rate
  FROM stg_customers AS customers
  JOIN countries ON countries.country_code = customers.country_code
)

SELECT
  orders.order_id,
  orders.customer_id,
  orders.ordered_on,
  orders.status,
  places.country,
  places.currency,
  orders.amount,
  round(orders.amount / (1 + places.vat_rate), 2) AS net_amount,
  coalesce(totals.line_count, 0) AS line_count,
  coalesce(payments.paid_amount, 0) AS paid_amount,
  CASE
    WHEN payments.paid_amount IS NULL THEN 'unpaid'
    WHEN payments.paid_amount < orders.amount THEN 'partly paid'
    ELSE 'paid'
  END AS payment_state,
  datediff(payments.first_paid_at, orders.ordered_at) AS days_to_pay
FROM stg_orders AS orders
LEFT JOIN int_order_totals AS totals USING (order_id)
LEFT JOIN int_order_payments AS payments ON payments.order_id = orders.order_id
LEFT JOIN countries_of AS places ON places.customer_id = orders.customer_id
