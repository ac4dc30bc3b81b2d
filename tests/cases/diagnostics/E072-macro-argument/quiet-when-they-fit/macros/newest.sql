CREATE MACRO newest(t TABLE, at COLUMN)
RETURN SELECT max(@t.@at) AS at FROM @t
