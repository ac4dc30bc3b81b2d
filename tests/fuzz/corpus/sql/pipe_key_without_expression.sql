FROM orders |> AGGREGATE max(amount) GROUP BY  AS  |> WHERE status IS NOT NULL
