-- expect: E060
SELECT 1
