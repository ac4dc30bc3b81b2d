"""What a producer is told by the reads that its consumers publish."""

from pathlib import Path

import pytest

from rocky.analysis.classification import classify
from rocky.analysis.imports.consumers import check_consumers, load_consumers
from rocky.operations.interfaces.publish import find_published
from tests.analysis.imports.projects import Two, compiled, published, write


def told(two: Two, *files: Path) -> list[str]:
    """`CODE model 'text at the place'`, and the notes, of what the shop is told."""
    compilation = compiled(two.shop)
    consumers, wrong = load_consumers(files or [two.finance / "interface.json"])
    assert [] == wrong
    shown = []
    published = find_published(compilation, compilation.project.config.publish.models)
    models = compilation.models
    for each in check_consumers(
        compilation.project, models, consumers, published, classify(compilation)
    ):
        text = compilation.project.texts[each.path].text
        under = text[each.span.start : each.span.end] if each.span is not None else ""
        shown.append(f"{each.code} {each.model or each.path} {under!r} {each.notes[-1]}")
    return shown


@pytest.fixture
def two(tmp_path):
    both = Two(
        tmp_path,
        {
            "models/revenue.sql": "SELECT id, amount FROM shop.orders WHERE status = 'paid'",
            "models/star.sql": "SELECT * FROM shop.refunds",
        },
    )
    both.fetch()
    write(both.finance, {"interface.json": published(both.finance)})
    return both


BY_AMOUNT = "read in `finance` by `revenue.amount`"


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ("SELECT id, amount, status FROM raw.orders WHERE id > 0", []),
        ("SELECT id, amount, status, 1 AS extra FROM raw.orders", []),
        ("SELECT id, status FROM raw.orders", [f"E030 orders '' {BY_AMOUNT}"]),
        (
            "SELECT id, 1 AS amount, status FROM raw.orders",
            [f"E031 orders 'amount' {BY_AMOUNT}"],
        ),
        (
            "SELECT id, amount + amount AS amount, status FROM raw.orders",
            [f"W031 orders 'amount' {BY_AMOUNT}"],
        ),
        (
            "SELECT id, nullif(amount, 0) AS amount, status FROM raw.orders",
            [f"E032 orders 'amount' {BY_AMOUNT}"],
        ),
        (
            "SELECT id, amount, coalesce(status, '') AS status FROM raw.orders",
            ["W032 orders 'status' read in `finance` by `revenue`"],
        ),
    ],
)
def test_a_producer_is_told_what_it_would_break(two, orders, expected):
    write(two.shop, {"models/orders.sql": orders})

    assert expected == told(two)


def test_a_new_column_is_told_where_all_are_read(two):
    write(two.shop, {"models/refunds.sql": "SELECT id, amount, status FROM raw.orders"})

    assert ["W030 refunds 'status' read in `finance` by `star`"] == told(two)


def test_a_table_that_no_model_writes_any_more_is_told(two):
    (two.shop / "models/orders.sql").unlink()
    assert ["E035 rocky.toml '' read in `finance` by `revenue`"] == told(two)

    write(
        two.shop,
        {
            "models/orders.sql": "SELECT id, amount, status FROM raw.orders",
            "models/orders.toml": '[strategy]\ntype = "ephemeral"\n',
        },
    )
    assert ["E035 rocky.toml '' read in `finance` by `revenue`"] == told(two)


def test_a_table_that_is_published_no_more_is_told(two):
    write(two.shop, {"rocky.toml": '[publish]\nmodels = ["refunds"]\n[pipeline.shop]\n'})

    assert ["E035 rocky.toml '' read in `finance` by `revenue`"] == told(two)


def test_a_project_that_was_renamed_is_known_by_its_tables(two):
    write(two.shop, {"rocky.toml": '[publish]\nname = "till"\n[pipeline.shop]\n'})
    assert [] == told(two)

    # `refunds` is still there and says who `shop` was.
    (two.shop / "models/orders.sql").unlink()
    assert ["E035 rocky.toml '' read in `finance` by `revenue`"] == told(two)


def test_a_consumer_that_reads_nothing_of_the_project_is_an_error(two):
    write(two.shop, {"rocky.toml": '[publish]\nname = "till"\n[pipeline.shop]\n'})
    write(two.shop, {"models/_defaults.toml": '[target]\ncatalog = "lake"\nschema = "till"\n'})

    assert ["E017 rocky.toml '' it reads `shop`"] == told(two)


BY_PLACE = "SELECT 1L AS i, 2.0BD AS a, 's' AS s UNION ALL SELECT * FROM shop.orders"


@pytest.mark.parametrize(
    ("reader", "orders", "expected"),
    [
        (BY_PLACE, "SELECT id, status, amount FROM raw.orders", ["E036 orders 'status'"]),
        (BY_PLACE, "SELECT status, amount, id FROM raw.orders", ["E036 orders 'status'"]),
        (BY_PLACE, "SELECT id, amount, status, 1 AS n FROM raw.orders", ["E036 orders 'n'"]),
        ("SELECT * FROM shop.orders", "SELECT id, status, amount FROM raw.orders", []),
        (
            "SELECT DISTINCT * FROM shop.orders",
            "SELECT id, amount, status, 1 AS n FROM raw.orders",
            ["E036 orders 'n'"],
        ),
    ],
)
def test_a_producer_is_told_who_reads_by_place(tmp_path, reader, orders, expected):
    both = Two(tmp_path, {"models/revenue.sql": reader})
    both.fetch()
    write(both.finance, {"interface.json": published(both.finance)})
    write(both.shop, {"models/orders.sql": orders})

    assert [f"{each} read in `finance` by `revenue`" for each in expected] == told(both)


@pytest.mark.parametrize(
    ("files", "note"),
    [
        ({"models/orders.toml": 'strategy = "view"'}, "`revenue`"),
        ({"models/orders.toml": ""}, "`revenue.amount`"),
        ({"contracts/orders.contract.toml": '[rules]\nrequired = ["id"]\n'}, "`revenue.amount`"),
    ],
)
def test_a_producer_is_told_which_promise_it_withdraws(tmp_path, files, note):
    both = Two(tmp_path)
    marked = '[classification]\namount = "secret"\n'
    write(both.shop, {"models/orders.toml": marked, "contracts/orders.contract.toml": PROMISES})
    both.fetch()
    both.fetch("imports/shop.baseline.json")
    write(both.finance, {"interface.json": published(both.finance)})
    assert [] == told(both)
    write(both.shop, files)

    assert f"E045 orders {note}" in [
        f"{each.split()[0]} {each.split()[1]} {each.rpartition(' by ')[2]}" for each in told(both)
    ]


PROMISES = '[rules]\nrequired = ["id"]\nprotected = ["amount"]\n'


def test_each_consumer_is_told_apart(two, tmp_path):
    other = Two(tmp_path / "more", {"rocky.toml": "[pipeline.ops]\n\n[imports.shop]\n"})
    other.fetch()
    write(other.finance, {"interface.json": published(other.finance)})
    write(two.shop, {"models/orders.sql": "SELECT id, status FROM raw.orders"})

    assert [
        f"E030 orders '' {BY_AMOUNT}",
        "E030 orders '' read in `ops` by `revenue.amount`",
    ] == told(two, two.finance / "interface.json", other.finance / "interface.json")


@pytest.mark.parametrize(
    ("text", "code"),
    [(None, "E017"), ("{", "E017"), ('{"interface_version": 9}', "E034")],
)
def test_a_consumers_file_that_cannot_be_used_is_an_error(tmp_path, text, code):
    path = tmp_path / "interface.json"
    if text is not None:
        path.write_text(text)
    found, wrong = load_consumers([path])

    assert ([], [code]) == (found, [each.code for each in wrong])
