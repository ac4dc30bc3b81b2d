SELECT order_id, amount
-- expect: E035
FROM lake.shop.orders
