CREATE MACRO in_thousands(amount EXPRESSION) RETURN @amount / 1000
