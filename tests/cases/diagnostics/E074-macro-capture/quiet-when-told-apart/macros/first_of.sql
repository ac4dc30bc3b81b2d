CREATE MACRO first_of(t TABLE, key COLUMN, rows EXPRESSION)
RETURN
WITH ranked AS (
  SELECT *, row_number() OVER (PARTITION BY @key ORDER BY @key) AS nth FROM @t WHERE @rows
)
SELECT * EXCEPT (nth) FROM ranked WHERE nth = 1
