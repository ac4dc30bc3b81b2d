SELECT
  person_id,
  avg(salary) AS pay
FROM raw.salaries
GROUP BY person_id
HAVING count(*) >= 5
