CREATE MACRO widest(id EXPRESSION)
RETURN (SELECT max(a) FROM by_status WHERE s = @id)
