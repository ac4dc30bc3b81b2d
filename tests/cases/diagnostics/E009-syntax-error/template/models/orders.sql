SELECT order_id
-- expect: E009
FROM {{ ref('orders') }}
{% if true %} WHERE amount > 0 {% endif %}
