{% test rows_per_visitor(model, most) %}
select visitor from {{ model }} group by visitor having count(*) > {{ most }}
{% endtest %}
