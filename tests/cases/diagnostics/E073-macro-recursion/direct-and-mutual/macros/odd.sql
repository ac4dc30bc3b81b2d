CREATE MACRO odd(value EXPRESSION)
-- expect: E073
RETURN @even(@value - 1)
