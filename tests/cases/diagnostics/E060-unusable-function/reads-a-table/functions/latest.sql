CREATE FUNCTION latest(day DATE)
RETURNS BOOLEAN
-- expect: E060
RETURN day = (SELECT max(order_date) FROM raw.orders)
