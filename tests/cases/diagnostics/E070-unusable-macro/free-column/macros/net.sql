CREATE MACRO net(gross EXPRESSION)
-- expect: E070
RETURN @gross - discount
