"""`rocky imports update`: fetched, accepted, checked."""

import pytest

from tests.analysis.imports.projects import SHOP, published, write
from tests.cli.test_schemas import check

CONFIG = '[pipeline.finance]\n\n[imports.shop]\npath = "../shop"\n'
REVENUE = {"models/revenue.sql": "SELECT id, amount FROM shop.orders\n"}


@pytest.fixture
def finance(rocky, tmp_path, monkeypatch):
    shop = write(tmp_path / "shop", SHOP)
    write(shop, {"interface.json": published(shop)})
    write(tmp_path / "finance", {"rocky.toml": CONFIG, **REVENUE})
    monkeypatch.chdir(tmp_path / "finance")
    return tmp_path / "finance"


def change_shop(finance, sql: str) -> None:
    shop = finance.parent / "shop"
    write(shop, {"models/orders.sql": sql})
    write(shop, {"interface.json": published(shop)})


def test_an_update_fetches_and_accepts(rocky, finance):
    assert 1 == rocky("compile", "-o", "json").code
    assert 1 == rocky("imports", "update", "--check", "-o", "json").code
    answer = rocky("imports", "update", "-o", "json")

    assert 0 == answer.code
    assert [] == check(answer.json, "imports")
    text = (finance.parent / "shop/interface.json").read_text()
    assert text == (finance / "imports/shop.json").read_text()
    assert text == (finance / "imports/shop.baseline.json").read_text()
    assert 0 == rocky("ci", "-o", "json").code
    assert 0 == rocky("imports", "update", "--check", "-o", "json").code


def test_an_update_says_what_it_accepts_and_who_reads_it(rocky, finance):
    rocky("imports", "update", "-q")
    change_shop(finance, "SELECT id, CAST(amount AS INT) AS amount FROM raw.orders\n")
    before = {path: path.read_bytes() for path in (finance / "imports").iterdir()}

    checked = rocky("imports", "update", "shop", "--check", "-o", "table")
    assert (1, before) == (
        checked.code,
        {path: path.read_bytes() for path in (finance / "imports").iterdir()},
    )
    accepted = rocky("imports", "update", "-o", "table")
    assert 0 == accepted.code
    changes = (
        "  breaking  lake.shop.orders.amount: column_type_changed (decimal(18,2) -> int);"
        " read by revenue\n"
        "  breaking  lake.shop.orders.amount: column_nullability_loosened (NOT NULL -> NULL);"
        " read by revenue\n"
        "  breaking  lake.shop.orders.status: column_removed (string)\n"
    )
    assert changes == accepted.out.partition("\n")[2] == checked.out.partition("\n")[2]
    assert accepted.out.startswith("shop: accepted, 2 tables; interface ")
    assert 0 == rocky("compile", "-o", "json").code


def test_a_snapshot_that_was_put_there_by_hand_is_accepted_without_a_path(rocky, finance):
    write(finance, {"rocky.toml": CONFIG.replace("path", "# path")})
    refused = rocky("imports", "update", "-o", "table")
    assert (1, True) == (refused.code, "put one there, or set its `path`" in refused.err)

    text = (finance.parent / "shop/interface.json").read_text()
    write(finance, {"imports/shop.json": text})
    assert 1 == rocky("imports", "update", "--check", "-o", "json").code
    assert 0 == rocky("imports", "update", "-o", "json").code
    assert text == (finance / "imports/shop.baseline.json").read_text()


def test_a_stale_pin_is_said_and_rewritten_only_on_request(rocky, finance):
    write(finance, {"rocky.toml": CONFIG + 'pin = "0" # ours\n[gc]\n'})
    first = rocky("imports", "update", "-o", "json").json["imports"][0]
    assert first["pin_stale"]
    assert 'pin = "0" # ours' in (finance / "rocky.toml").read_text()
    assert 1 == rocky("imports", "update", "--check", "-o", "json").code
    assert ["E033"] == [each["code"] for each in rocky("compile", "-o", "json").json["diagnostics"]]

    assert 0 == rocky("imports", "update", "--write-pin", "-o", "json").code
    pinned = CONFIG + f'pin = "{first["interface_hash"]}" # ours\n[gc]\n'
    assert pinned == (finance / "rocky.toml").read_text()
    assert 0 == rocky("imports", "update", "--check", "-o", "json").code
    assert 0 == rocky("compile", "-o", "json").code


def test_what_is_only_fetched_is_told_by_the_next_compile(rocky, finance):
    rocky("imports", "update", "-q")
    change_shop(finance, "SELECT id, status FROM raw.orders\n")
    answer = rocky("imports", "update", "--fetch-only", "-o", "json")

    assert (0, "fetched", []) == (answer.code, answer.json["done"], check(answer.json, "imports"))
    assert ["E030"] == [each["code"] for each in rocky("compile", "-o", "json").json["diagnostics"]]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, "cannot be read: no such file or directory"),
        ("{", "is not valid JSON"),
        ('{"interface_version": 2}', "has version 2"),
    ],
)
def test_what_cannot_be_fetched_changes_nothing(rocky, finance, text, expected):
    rocky("imports", "update", "-q")
    before = {path: path.read_bytes() for path in (finance / "imports").iterdir()}
    source = finance.parent / "shop/interface.json"
    source.unlink() if text is None else source.write_text(text)

    for flags in ((), ("--check",)):
        answer = rocky("imports", "update", *flags, "-o", "table")
        assert (1, True) == (answer.code, expected in answer.err), answer.err
    assert before == {path: path.read_bytes() for path in (finance / "imports").iterdir()}


def test_a_folder_publishes_where_its_settings_say(rocky, finance):
    shop = finance.parent / "shop"
    (shop / "interface.json").rename(shop / "ours.json")
    config = '[publish]\nout = "ours.json"\n[pipeline.shop]\n'
    write(shop, {"rocky.toml": config})

    assert 0 == rocky("imports", "update", "-o", "json").code


def test_a_place_that_came_from_a_variable_is_never_shown(rocky, finance, monkeypatch):
    monkeypatch.setenv("PLACE", "../hunter2")
    write(finance, {"rocky.toml": CONFIG.replace("../shop", "${PLACE}")})
    answer = rocky("imports", "update", "-o", "table")

    assert 1 == answer.code
    assert "`${PLACE}` of import `shop`" in answer.err
    assert "hunter2" not in answer.err + answer.out


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("imports update shp", "did you mean `shop`?"),
        ("imports updte", "did you mean `update`?"),
        ("imports update --check --write-pin", "writes nothing"),
        ("imports update --fetch-only --write-pin", "cannot be used together"),
    ],
)
def test_what_cannot_be_meant_is_refused(rocky, finance, line, expected):
    answer = rocky(*line.split(), "-o", "table")

    assert (1, True) == (answer.code, expected in answer.err)


def test_settings_are_taken_before_and_after_the_command(rocky, finance, monkeypatch):
    monkeypatch.chdir(finance.parent)

    assert 0 == rocky("-c", "finance", "imports", "update", "-o", "json").code
    assert 0 == rocky("imports", "-c", "finance", "update", "--check", "-o", "json").code
    assert 0 == rocky("imports", "update", "--check", "-c", "finance", "-o", "json").code


def test_imported_tables_are_shown_as_imports(rocky, finance):
    rocky("imports", "update", "-q")
    listed = rocky("list", "sources", "-o", "json")
    traced = rocky("lineage", "revenue", "-o", "json")

    assert {("lake.shop.orders", "import"), ("lake.shop.refunds", "import")} == {
        (each["name"], each["kind"]) for each in listed.json["sources"]
    }
    nodes = {each["model"]: each["kind"] for each in traced.json["nodes"]}
    assert {"revenue": "model", "lake.shop.orders": "import"} == nodes
    assert [[], []] == [check(listed.json, "list"), check(traced.json, "lineage")]
