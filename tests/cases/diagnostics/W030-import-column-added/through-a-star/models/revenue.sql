-- expect: W030
SELECT * FROM lake.shop.orders
