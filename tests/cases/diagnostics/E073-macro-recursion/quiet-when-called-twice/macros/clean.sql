CREATE MACRO clean(value EXPRESSION) RETURN nullif(trim(@value), '')
