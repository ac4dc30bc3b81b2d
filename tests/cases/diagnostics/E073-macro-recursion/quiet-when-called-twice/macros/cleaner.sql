CREATE MACRO cleaner(value EXPRESSION) RETURN coalesce(@clean(@value), @clean('none'))
