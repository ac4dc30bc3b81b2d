"""A `.rocky` text becomes Spark SQL, step by step and in the order it was written."""

import pytest

import rocky
from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.dsl.values import QUOTED_WORDS

TABLES = {
    "sales": "sale_id BIGINT NOT NULL, store_id BIGINT, region STRING, qty INT, price DECIMAL(10,2)"
    " NOT NULL, note STRING, sold_at TIMESTAMP, tags ARRAY<STRING>, place STRUCT<city: STRING>",
    "stores": "store_id BIGINT NOT NULL, region STRING, city STRING NOT NULL",
}

LOWERED = [
    ("from sales", "FROM sales"),
    ("from sales as s", "FROM sales AS s"),
    ("from sales replicate", "SELECT * FROM sales"),
    ("from sales where qty == 1", "FROM sales\n|> WHERE qty = 1"),
    ("from sales where qty != 1", "FROM sales\n|> WHERE qty IS DISTINCT FROM 1"),
    ("from sales where not qty != 1", "FROM sales\n|> WHERE NOT qty IS DISTINCT FROM 1"),
    (
        "from sales where qty == 1 or qty == 2 where qty == 3",
        "FROM sales\n|> WHERE qty = 1 OR qty = 2\n|> WHERE qty = 3",
    ),
    (
        "from sales | where qty is null | where note is not null",
        "FROM sales\n|> WHERE qty IS NULL\n|> WHERE note IS NOT NULL",
    ),
    (
        'from sales where qty in (1, 2) and region not in ("a", \'b\')',
        "FROM sales\n|> WHERE qty IN (1, 2) AND region NOT IN ('a', 'b')",
    ),
    (
        'from sales where qty between 1 and 2 and note like "x%" and note not ilike "y"',
        "FROM sales\n|> WHERE qty BETWEEN 1 AND 2 AND note LIKE 'x%' AND note NOT ILIKE 'y'",
    ),
    ("from sales take 1_000", "FROM sales\n|> LIMIT 1000"),
    (
        "from sales take 5 where qty > 1 sort -qty, region asc, note desc nulls last",
        "FROM sales\n|> LIMIT 5\n|> WHERE qty > 1\n|> ORDER BY qty DESC, region ASC, note DESC NULLS LAST",
    ),
    ("from sales distinct", "FROM sales\n|> SELECT DISTINCT *"),
    (
        "from sales select { qty, n: qty + 1, s: sales.region }",
        "FROM sales\n|> SELECT qty,\n     qty + 1 AS n,\n     sales.region AS s",
    ),
    ("from sales select { * except (qty, note) }", "FROM sales\n|> SELECT * EXCEPT (qty, note)"),
    ("from sales as s select { s.* }", "FROM sales AS s\n|> SELECT s.*"),
    ("from sales drop qty, note", "FROM sales\n|> DROP qty, note"),
    (
        "from sales derive { a: qty, b: price }",
        "FROM sales\n|> EXTEND qty AS a,\n     price AS b",
    ),
    (
        "from sales derive { a: qty, b: A + 1 }",
        "FROM sales\n|> EXTEND qty AS a\n|> EXTEND A + 1 AS b",
    ),
    (
        "from sales set { qty: qty + 1, price: qty }",
        "FROM sales\n|> SET qty = qty + 1\n|> SET price = qty",
    ),
    (
        "from sales group region { n: count(), d: count(distinct qty) }",
        "FROM sales\n|> AGGREGATE count(*) AS n,\n     count(DISTINCT qty) AS d\n    GROUP BY region",
    ),
    ("from sales group { n: count(*) }", "FROM sales\n|> AGGREGATE count(*) AS n"),
    ("from sales group region, qty", "FROM sales\n|> AGGREGATE GROUP BY region, qty"),
    (
        'from sales group day: date_trunc("day", sold_at) { n: sum(qty) filter (qty > 1) }',
        "FROM sales\n|> AGGREGATE sum(qty) FILTER (WHERE qty > 1) AS n\n"
        "    GROUP BY date_trunc('day', sold_at) AS day",
    ),
    (
        "from sales derive { n: row_number() over (partition region, store_id, sort -qty, note,"
        " rows unbounded..current) }",
        "FROM sales\n|> EXTEND row_number() OVER (PARTITION BY region, store_id ORDER BY qty DESC, note"
        " ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW) AS n",
    ),
    (
        "from sales derive { n: sum(qty) over (sort sale_id, rows -6..0),"
        " m: sum(qty) over (), k: sum(qty) over (sort sale_id, rows current..2) }",
        "FROM sales\n|> EXTEND sum(qty) OVER (ORDER BY sale_id ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS n,\n"
        "     sum(qty) OVER () AS m,\n"
        "     sum(qty) OVER (ORDER BY sale_id ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING) AS k",
    ),
    (
        'from sales derive { b: match qty { > 1 => "x", 0 => "z", null => "n", in (5, 6) => "l", _ => "y" } }',
        "FROM sales\n|> EXTEND CASE WHEN qty > 1 THEN 'x' WHEN qty = 0 THEN 'z' WHEN qty IS NULL THEN 'n'"
        " WHEN qty IN (5, 6) THEN 'l' ELSE 'y' END AS b",
    ),
    (
        'from sales derive { b: match region { "EU" => 1, "US" => 2 } }',
        "FROM sales\n|> EXTEND CASE region WHEN 'EU' THEN 1 WHEN 'US' THEN 2 END AS b",
    ),
    (
        "from sales derive { b: match qty == 1 or qty == 2 { != true => 1, _ => 2 } }",
        "FROM sales\n|> EXTEND CASE WHEN (qty = 1 OR qty = 2) IS DISTINCT FROM TRUE THEN 1 ELSE 2 END AS b",
    ),
    (
        "from sales derive { b: match { qty > 1 => 1, _ => 2 } }",
        "FROM sales\n|> EXTEND CASE WHEN qty > 1 THEN 1 ELSE 2 END AS b",
    ),
    (
        "from sales join stores on store_id",
        "FROM sales\n|> JOIN stores USING (store_id)",
    ),
    (
        "from sales as s left join stores as t on store_id, region { keep t.city }",
        "FROM sales AS s\n|> LEFT JOIN (FROM stores AS t |> SELECT store_id, region, t.city) AS t"
        " USING (store_id, region)",
    ),
    (
        "from sales as s right_join stores as t on s.sale_id == t.store_id { keep town: t.city }",
        "FROM sales AS s\n|> RIGHT JOIN (FROM stores AS t |> SELECT store_id, t.city AS town) AS t"
        " ON s.sale_id = t.store_id\n|> SELECT * EXCEPT (t.store_id)",
    ),
    (
        "from sales as s full join stores as t on s.sale_id == t.store_id { keep t.store_id }",
        "FROM sales AS s\n|> FULL JOIN (FROM stores AS t |> SELECT t.store_id) AS t"
        " ON s.sale_id = t.store_id",
    ),
    (
        "from sales as s left join stores as order on s.store_id == order.store_id { keep order.city }",
        "FROM sales AS s\n|> LEFT JOIN (FROM stores AS `order` |> SELECT store_id, `order`.city) AS `order`"
        " ON s.store_id = `order`.store_id\n|> SELECT * EXCEPT (`order`.store_id)",
    ),
    ("from sales as s cross join stores", "FROM sales AS s\n|> CROSS JOIN stores"),
    (
        "from sales semi join stores on sales.store_id == stores.store_id",
        "FROM sales\n|> LEFT SEMI JOIN stores ON sales.store_id = stores.store_id",
    ),
    (
        "from sales anti join (from stores where city == 'x') as t on sales.store_id == t.store_id",
        "FROM sales\n|> LEFT ANTI JOIN (\n  FROM stores\n  |> WHERE city = 'x'\n) AS t ON sales.store_id = t.store_id",
    ),
    (
        "from sales union all sales except (from sales where qty > 1)",
        "FROM sales\n|> UNION ALL (\n  FROM sales\n)\n|> EXCEPT (\n  FROM sales\n  |> WHERE qty > 1\n)",
    ),
    (
        "let big = from sales where qty > 1\nlet eu = from big where region == 'EU'\nfrom eu as e select { e.qty }",
        "WITH big AS (\n  FROM sales\n  |> WHERE qty > 1\n),\neu AS (\n  FROM big\n  |> WHERE region = 'EU'\n)\n"
        "FROM eu AS e\n|> SELECT e.qty",
    ),
    (
        "from sales where store_id in (from stores select { store_id })",
        "FROM sales\n|> WHERE store_id IN (\n  FROM stores\n  |> SELECT store_id\n)",
    ),
    (
        "from sales where exists(from stores where stores.store_id == sales.store_id)",
        "FROM sales\n|> WHERE exists(\n  FROM stores\n  |> WHERE stores.store_id = sales.store_id\n)",
    ),
    (
        "from sales derive { a: -(-5), b: - -5, c: 1_000 - -2, d: 1.5e3, e: true, f: null }",
        "FROM sales\n|> EXTEND -(-5) AS a,\n     - -5 AS b,\n     1000 - -2 AS c,\n     1.5e3 AS d,\n"
        "     TRUE AS e,\n     NULL AS f",
    ),
    (
        "from sales where sold_at >= @2025-01-01 and sold_at < @2025-01-02T10:00:00Z",
        "FROM sales\n|> WHERE sold_at >= DATE '2025-01-01' AND sold_at < TIMESTAMP '2025-01-02T10:00:00Z'",
    ),
    (
        "from sales where sold_at > now() - interval 7 days",
        "FROM sales\n|> WHERE sold_at > now() - INTERVAL 7 DAYS",
    ),
    (
        'from sales where note == "it\'s a \\n" || \'say "hi"\'',
        "FROM sales\n|> WHERE note = 'it\\'s a \\\\n' || 'say \"hi\"'",
    ),
    (
        "from sales derive { a: cast(place as struct<town string>), b: cast(null as interval day to second) }",
        "FROM sales\n|> EXTEND cast(place AS struct<town string>) AS a,\n     cast(NULL AS interval day to second) AS b",
    ),
    (
        "from sales derive { a: cast(qty as decimal(12, 2)), b: try_cast(null as map<string, array<int>>) }",
        "FROM sales\n|> EXTEND cast(qty AS decimal(12, 2)) AS a,\n     try_cast(NULL AS map<string, array<int>>) AS b",
    ),
    (
        "from sales derive { a: tags[0], b: place.city, c: transform(tags, x -> upper(x)),"
        " d: aggregate(tags, 0, (n, x) -> n + 1), e: struct(qty).qty, f: left(region, 2) }",
        "FROM sales\n|> EXTEND tags[0] AS a,\n     place.city AS b,\n     transform(tags, x -> upper(x)) AS c,\n"
        "     aggregate(tags, 0, (n, x) -> n + 1) AS d,\n     struct(qty).qty AS e,\n     left(region, 2) AS f",
    ),
    ("-- why\nfrom sales -- all\n", "FROM sales"),
    ("from (from sales where qty > 1) as s", "FROM (\n  FROM sales\n  |> WHERE qty > 1\n) AS s"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "sql"), LOWERED)
def test_a_text_becomes_this_sql(text, sql):
    lowered = lower_text(text)

    assert isinstance(lowered, MappedText), lowered
    assert sql + "\n" == lowered.text


@pytest.mark.parametrize("text", [text for text, _ in LOWERED])
def test_the_sql_compiles(text):
    lowered = lower_text(text)
    assert isinstance(lowered, MappedText)
    checked = rocky.check_sql(lowered.text, tables=TABLES)

    assert [] == [str(each.message) for each in checked.diagnostics if each.severity == "error"]


@pytest.mark.parametrize("word", sorted(QUOTED_WORDS))
def test_a_column_with_the_name_of_a_word_of_sql_is_quoted(word):
    lowered = lower_text(f"from t where {word} > 1 select {{ {word}, n: t.{word} }}")
    assert isinstance(lowered, MappedText)
    checked = rocky.check_sql(lowered.text, tables={"t": f"`{word}` INT"})

    assert [] == list(checked.diagnostics)
    assert [word, "n"] == [column.name for column in checked.columns]


@pytest.mark.parametrize("word", ["left", "sort", "order", "match", "on"])
def test_a_word_behind_a_dot_or_in_backticks_is_a_name(word):
    lowered = lower_text(f"from t where t.{word} > 1 select {{ `{word}` }}")
    assert isinstance(lowered, MappedText)
    checked = rocky.check_sql(lowered.text, tables={"t": f"`{word}` INT"})

    assert [] == list(checked.diagnostics)
    assert [word] == [column.name for column in checked.columns]


def test_every_piece_of_the_sql_that_was_written_leads_back_to_itself():
    for text, _ in LOWERED:
        lowered = lower_text(text)
        assert isinstance(lowered, MappedText)
        assert lowered.text == "".join(lowered.text[p.start : p.end] for p in lowered.pieces)
        for piece in lowered.pieces:
            if piece.copied and piece.written is not None:
                made = lowered.text[piece.start : piece.end]
                assert made == text[piece.written.start : piece.written.end]
