select
    payment_id,
    order_id,
    way,
    {{ euros('cents') }} as amount
from {{ ref('raw_payments') }}
