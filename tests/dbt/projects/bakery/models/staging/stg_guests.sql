-- Guests with readable names.
with source as (

    select * from {{ ref('raw_guests') }}

)

select
    guest_id,
    first_name,
    last_name, -- may be missing
    postcode,
    joined_on
from source
