-- What is left of an amount.
CREATE MACRO net(gross EXPRESSION, discount LITERAL DEFAULT 0.1)
COMMENT 'an amount without its discount'
RETURN @gross * (1 - @discount) /* of 100 percent */;
