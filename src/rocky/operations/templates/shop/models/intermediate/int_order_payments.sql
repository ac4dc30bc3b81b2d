-- One row a paid order, however many payments it took.
SELECT
  order_id,
  sum(amount) AS paid_amount,
  min(paid_at) AS first_paid_at,
  array_sort(collect_set(method)) AS methods
FROM stg_payments
GROUP BY order_id
