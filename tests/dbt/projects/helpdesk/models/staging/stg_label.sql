{{ config(enabled=var('desk__using_labels', true)) }}
select ticket_id, lower(label) as label from {{ ref('stg_label_tmp') }}
