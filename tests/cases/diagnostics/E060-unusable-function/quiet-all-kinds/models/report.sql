SELECT
  o.order_id,
  net(o.amount) AS net,
  net(o.amount, rate => 0.07) AS reduced,
  shorter(o.status) AS short,
  masked(o.status) AS masked,
  score(o.amount) AS score,
  finance.rounded(o.amount) AS rounded,
  w.day
FROM raw.orders AS o, LATERAL weekdays(o.order_date) AS w
