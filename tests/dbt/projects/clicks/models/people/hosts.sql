select visitor, host_of(page) as host from {{ ref('events') }}
