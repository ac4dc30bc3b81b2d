CREATE MACRO customers_in(code EXPRESSION)
RETURN (SELECT count(*) FROM raw.customers WHERE country = @code)
