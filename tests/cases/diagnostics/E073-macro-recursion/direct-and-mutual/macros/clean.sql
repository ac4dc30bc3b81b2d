CREATE MACRO clean(value EXPRESSION)
-- expect: E073
RETURN nullif(@clean(trim(@value)), '')
