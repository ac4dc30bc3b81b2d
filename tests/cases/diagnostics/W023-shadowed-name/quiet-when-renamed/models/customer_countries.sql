SELECT DISTINCT c.name FROM raw.customers AS x JOIN countries AS c ON c.code = x.country
