select o.order_id
from {{ ref('orders') }} o
where o.state = 'returned' and o.amount = 0
