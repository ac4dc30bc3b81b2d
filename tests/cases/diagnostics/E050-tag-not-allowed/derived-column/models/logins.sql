SELECT
  id,
  -- expect: E050
  lower(email) AS login
FROM stg
