select visitor, sites from {{ ref('visitors_history') }} where dbt_valid_to is null
