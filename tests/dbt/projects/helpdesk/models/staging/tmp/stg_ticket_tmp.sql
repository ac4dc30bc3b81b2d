select * from {{ source('desk', 'ticket') }}
