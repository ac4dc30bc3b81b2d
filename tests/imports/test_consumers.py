"""What a producer is told by the reads that its consumers publish."""

from pathlib import Path

import pytest

from rocky.imports.consumers import check_consumers, load_consumers
from tests.imports.projects import Two, compiled, published, write


def told(two: Two, *files: Path) -> list[str]:
    """`CODE model 'text at the place'`, and the notes, of what the shop is told."""
    compilation = compiled(two.shop)
    consumers, wrong = load_consumers(files or [two.finance / "interface.json"])
    assert [] == wrong
    shown = []
    for each in check_consumers(compilation.project, compilation.models, consumers):
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
            ["E032 orders 'status' read in `finance` by `revenue`"],
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


def test_a_consumer_of_another_project_is_left_alone(two):
    write(two.shop, {"rocky.toml": '[publish]\nname = "till"\n[pipeline.shop]\n'})
    (two.shop / "models/orders.sql").unlink()

    assert [] == told(two)


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
