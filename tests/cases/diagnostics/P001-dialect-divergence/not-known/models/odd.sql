-- expect: P001
SELECT order_id, reflect('java.lang.Math', 'abs', 1) AS one FROM raw.orders
