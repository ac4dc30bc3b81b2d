WITH monthly AS (
  SELECT
    date_trunc('MONTH', ordered_on) AS month,
    coalesce(country, 'unknown') AS country,
    count(DISTINCT customer_id) AS customers,
    count(*) AS orders,
    sum(amount) AS amount
  FROM fct_orders
  WHERE payment_state <> 'unpaid'
  GROUP BY ALL
)

SELECT
  CAST(month AS DATE) AS month,
  country,
  customers,
  orders,
  amount,
  sum(amount) OVER (PARTITION BY country ORDER BY month) AS revenue_to_date,
  amount / sum(amount) OVER (PARTITION BY month) AS share_of_month
FROM monthly
