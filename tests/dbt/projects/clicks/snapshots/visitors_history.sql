{% snapshot visitors_history %}
{{ config(strategy='timestamp', updated_at='first_seen', unique_key='visitor', target_schema='clicks_history', invalidate_hard_deletes=true, file_format='delta') }}
select * from {{ ref('visitors') }}
{% endsnapshot %}
