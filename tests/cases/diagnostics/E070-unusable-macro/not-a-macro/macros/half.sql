-- expect: E070
SELECT 1
