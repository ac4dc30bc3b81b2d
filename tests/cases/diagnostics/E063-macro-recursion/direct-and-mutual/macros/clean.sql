CREATE MACRO clean(value EXPRESSION)
-- expect: E063
RETURN nullif(@clean(trim(@value)), '')
