SELECT '{{ amount }}' AS shown FROM raw.orders -- {{ never read }}
