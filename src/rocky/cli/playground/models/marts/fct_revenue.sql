WITH monthly AS (
  SELECT
    date_trunc('MONTH', ordered_on) AS month,
    coalesce(country, 'unknown') AS country,
    count(DISTINCT customer_id) AS customers,
    count(*) AS orders,
    sum(amount) AS revenue
  FROM fct_orders
  WHERE payment_state <> 'unpaid'
  GROUP BY ALL
)

SELECT
  CAST(month AS DATE) AS month,
  country,
  customers,
  orders,
  revenue,
  sum(revenue) OVER (PARTITION BY country ORDER BY month) AS revenue_to_date,
  revenue / sum(revenue) OVER (PARTITION BY month) AS share_of_month
FROM monthly
