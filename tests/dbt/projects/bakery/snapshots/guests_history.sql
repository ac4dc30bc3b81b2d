{% snapshot guests_history %}
{{ config(strategy='check', unique_key='guest_id', check_cols='all', target_schema='bakery_history', file_format='delta') }}
select guest_id, first_name, last_name, postcode from {{ ref('stg_guests') }}
{% endsnapshot %}
