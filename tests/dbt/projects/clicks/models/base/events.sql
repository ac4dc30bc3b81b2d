select
    event_id,
    visitor,
    site,
    cast(happened_at as timestamp) as happened_at,
    cast(happened_at as date) as happened_on,
    page
from {{ ref('raw_events') }}
where {{ known_sites() }}
