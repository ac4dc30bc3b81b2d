-- expect: E074
SELECT order_id, @pinned(orders.customer_id) AS name FROM raw.orders
