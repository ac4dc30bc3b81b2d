-- @nobody(1)
SELECT order_id, '@nobody(1)' AS a, "@nobody(2)" AS b FROM raw.orders /* @nobody(3) */
