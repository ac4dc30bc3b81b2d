{{ config(severity='warn') }}
select * from {{ ref('events') }} where happened_at < timestamp '2020-01-01 00:00:00'
