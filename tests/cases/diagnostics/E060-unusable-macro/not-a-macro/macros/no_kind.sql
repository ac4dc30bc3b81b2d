-- expect: E060
CREATE MACRO no_kind(amount DOUBLE) RETURN @amount
