-- expect: E070
CREATE MACRO no_kind(amount DOUBLE) RETURN @amount
