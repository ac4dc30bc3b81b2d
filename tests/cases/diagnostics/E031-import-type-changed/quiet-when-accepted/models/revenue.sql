SELECT order_id, amount FROM lake.shop.orders
