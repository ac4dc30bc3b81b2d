SELECT
  sum(CAST(score AS INT)) AS total,
  max(score) AS highest
FROM crm.contacts
