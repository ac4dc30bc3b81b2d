{{ config(enabled=var('desk__using_teams', true)) }}
select * from {{ source('desk', 'team') }}
