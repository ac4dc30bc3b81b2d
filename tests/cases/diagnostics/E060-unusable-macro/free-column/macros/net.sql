CREATE MACRO net(gross EXPRESSION)
-- expect: E060
RETURN @gross - discount
