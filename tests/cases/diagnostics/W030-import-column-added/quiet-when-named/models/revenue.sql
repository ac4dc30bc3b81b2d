SELECT order_id, amount, coupon FROM lake.shop.orders
