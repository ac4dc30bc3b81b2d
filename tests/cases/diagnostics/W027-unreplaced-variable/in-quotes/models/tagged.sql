SELECT
  order_id,
  -- expect: W027
  '${env:HOME}' AS home,
  -- expect: W027
  r'a ${spark.app.name} b' AS app,
  -- expect: W027
  "${system:user.name}" AS person,
  -- expect: W027
  quantity AS `q${x}`
FROM raw.orders
