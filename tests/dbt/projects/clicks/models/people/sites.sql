-- depends_on: {{ ref('events') }}
{% set found = run_query("select distinct site from " ~ ref('events') ~ " order by site") if execute else none %}
select '{{ found.columns[0].values() | join(",") if found else "" }}' as sites
