SELECT
  -- expect: W020
  sum(score) AS total
FROM crm.contacts
