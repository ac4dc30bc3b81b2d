CREATE MACRO no_parameter(amount EXPRESSION)
-- expect: E060
RETURN @amout * 2
