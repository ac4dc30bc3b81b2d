SELECT
  order_id,
  customer_id,
  ordered_at,
  CAST(ordered_at AS DATE) AS ordered_on,
  status,
  amount,
  voucher_code IS NOT NULL AS has_voucher
FROM raw.orders
WHERE status <> 'cancelled'
