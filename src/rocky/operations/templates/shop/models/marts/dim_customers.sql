WITH activity AS (
  SELECT
    customer_id,
    min(ordered_on) AS first_order_on,
    max(ordered_on) AS last_order_on,
    count(*) AS orders,
    sum(amount) AS lifetime_amount
  FROM stg_orders
  GROUP BY customer_id
),

balances AS (
  SELECT customer_id, sum(amount) AS open_amount
  FROM int_account_movements
  GROUP BY customer_id
)

SELECT
  customers.customer_id,
  customers.full_name,
  customers.email,
  customers.country_code,
  activity.first_order_on,
  activity.last_order_on,
  coalesce(activity.orders, 0) AS orders,
  coalesce(activity.lifetime_amount, 0) AS lifetime_amount,
  coalesce(balances.open_amount, 0) AS open_amount,
  dense_rank() OVER (
    PARTITION BY customers.country_code
    ORDER BY coalesce(activity.lifetime_amount, 0) DESC
  ) AS rank_in_country
FROM stg_customers AS customers
LEFT JOIN activity ON activity.customer_id = customers.customer_id
LEFT JOIN balances ON balances.customer_id = customers.customer_id
