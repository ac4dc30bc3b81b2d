-- expect: E070
CREATE MACRO bad_default(amount LITERAL DEFAULT a + 1) RETURN @amount
