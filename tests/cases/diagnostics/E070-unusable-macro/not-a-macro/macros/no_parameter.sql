CREATE MACRO no_parameter(amount EXPRESSION)
-- expect: E070
RETURN @amout * 2
