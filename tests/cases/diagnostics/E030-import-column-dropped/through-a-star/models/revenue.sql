-- expect: E030
SELECT * FROM shop.orders
