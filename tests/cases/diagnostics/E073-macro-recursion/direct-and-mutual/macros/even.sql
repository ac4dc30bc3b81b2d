CREATE MACRO even(value EXPRESSION)
RETURN @odd(@value - 1)
