SELECT order_id FROM lake.shop.orders
