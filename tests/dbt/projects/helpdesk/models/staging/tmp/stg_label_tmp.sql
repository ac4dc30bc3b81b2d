{{ config(enabled=var('desk__using_labels', true)) }}
select * from {{ source('desk', 'label') }}
