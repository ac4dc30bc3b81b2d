{{ config(
    materialized='incremental', incremental_strategy='microbatch', event_time='happened_at',
    begin='2026-05-01', batch_size='day', partition_by='happened_on', file_format='parquet'
) }}
select event_id, happened_at, happened_on from {{ ref('events') }}
