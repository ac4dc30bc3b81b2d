CREATE MACRO not_one(a EXPRESSION)
-- expect: E060
RETURN @a, 1
