CREATE FUNCTION all_of(amount DECIMAL(18,2)) RETURNS DECIMAL(28,2)
-- expect: E060
RETURN sum(amount)
