SELECT * FROM lake.shop.orders
