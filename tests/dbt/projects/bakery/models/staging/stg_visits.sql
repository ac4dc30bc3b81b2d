select visit_id, guest_id, came_at, cast(came_at as date) as came_on from {{ source('till', 'visits') }}
