{# Every month since the gym opened. #}
select explode(sequence(
    date '{{ var("opened_on") }}', date '{{ var("counted_until") }}', interval 1 month
)) as month
