-- query: orders
SELECT * FROM orders

-- query: order_lines
SELECT * FROM order_lines

-- query: customers
SELECT * FROM customers

-- query: products
SELECT * FROM products

-- query: events
SELECT * FROM events

-- query: calendar
SELECT * FROM calendar

-- query: staff
SELECT * FROM staff

-- query: numbers
SELECT * FROM numbers

-- query: legacy
SELECT * FROM legacy

-- query: quarterly_sales
SELECT * FROM quarterly_sales
