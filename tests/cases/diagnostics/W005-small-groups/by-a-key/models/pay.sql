SELECT
  person_id,
  -- expect: W005
  avg(salary) AS pay
FROM raw.salaries
GROUP BY person_id
