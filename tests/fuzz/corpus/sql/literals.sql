SELECT 1Y, 1.5BD, X'1F', 1e-3, DATE '2026-01-01', r'a\b', {d '2026-01-01'}, @var(x), :name FROM csv.`/x`
