CREATE MACRO odd(value EXPRESSION)
-- expect: E063
RETURN @even(@value - 1)
