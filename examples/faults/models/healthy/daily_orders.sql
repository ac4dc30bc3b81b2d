SELECT ordered_on, count(*) AS orders, sum(amount) AS revenue
FROM shop.orders
GROUP BY ordered_on
