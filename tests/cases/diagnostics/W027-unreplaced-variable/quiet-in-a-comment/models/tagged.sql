SELECT order_id, '$ {env:HOME} $HOME {x} ${}' AS home, 'a$b' AS b
FROM raw.orders -- ${env:HOME}
