CREATE MACRO bucket(value EXPRESSION, size LITERAL, kind TYPE DEFAULT int)
RETURN CAST(floor(@value / @size) * @size AS @kind)
