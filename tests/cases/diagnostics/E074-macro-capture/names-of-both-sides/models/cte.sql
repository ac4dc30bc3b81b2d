WITH by_status AS (SELECT 1 AS a, 'x' AS s)
-- expect: E074
SELECT a, @widest(s) AS w FROM by_status
