CREATE MACRO not_one(a EXPRESSION)
-- expect: E070
RETURN @a, 1
