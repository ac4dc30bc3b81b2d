"""`rocky publish`, and what `--consumers` adds to a compile."""

import json

import pytest

from tests.analysis.imports.projects import FINANCE, SHOP, write
from tests.cli.test_schemas import check


@pytest.fixture
def shop(rocky, tmp_path, monkeypatch):
    write(tmp_path / "shop", SHOP)
    monkeypatch.chdir(tmp_path / "shop")
    return tmp_path / "shop"


def test_an_interface_is_written_once_and_is_then_up_to_date(rocky, shop):
    assert 1 == rocky("publish", "--check", "-o", "table").code
    assert not (shop / "interface.json").exists()
    first = rocky("publish", "-o", "json")
    second = rocky("publish", "-o", "json")
    checked = rocky("publish", "--check", "-o", "json")

    assert [(0, True), (0, False), (0, False)] == [
        (each.code, each.json["written"]) for each in (first, second, checked)
    ]
    assert ["lake.shop.orders", "lake.shop.refunds"] == first.json["tables"]
    assert first.json["interface_hash"] in (shop / "interface.json").read_text()
    assert [[], [], []] == [check(each.json, "publish") for each in (first, second, checked)]


def test_a_check_says_what_is_not_up_to_date_and_writes_nothing(rocky, shop):
    rocky("publish", "-q")
    before = (shop / "interface.json").read_bytes()
    write(shop, {"models/orders.sql": "SELECT id, status FROM raw.orders\n"})
    answer = rocky("publish", "--check", "-o", "table")
    document = rocky("publish", "--check", "-o", "json").json

    assert (1, before) == (answer.code, (shop / "interface.json").read_bytes())
    assert (
        "not up to date: interface.json\n"
        "  breaking  lake.shop.orders.amount: column_removed (decimal(18,2) NOT NULL)\n"
        "run `rocky publish` and commit the file\n"
    ) == answer.out
    assert [] == check(document, "publish")
    assert [("column_removed", "breaking")] == [
        (each["rule"], each["impact"]) for each in document["changes"]
    ]


def test_only_what_is_selected_is_published(rocky, shop):
    write(
        shop, {"models/inner.sql": "SELECT 1 AS x", "models/inner.toml": 'strategy = "ephemeral"'}
    )

    asked = rocky("publish", "refunds", "--out", "sub/some.json", "-o", "json")
    assert ["lake.shop.refunds"] == asked.json["tables"]
    assert json.loads((shop / "sub/some.json").read_text())["tables"][0]["name"] == "refunds"
    config = '[publish]\nmodels = ["orders"]\nout = "out.json"\n[pipeline.shop]\n'
    write(shop, {"rocky.toml": config})
    assert ["lake.shop.orders"] == rocky("publish", "-o", "json").json["tables"]
    assert (shop / "out.json").exists()
    refused = rocky("publish", "inner", "-o", "table")
    assert (1, True) == (refused.code, "nothing to publish" in refused.err)


def test_nothing_but_an_interface_is_written_over(rocky, shop):
    before = (shop / "rocky.toml").read_text()
    refused = rocky("publish", "--out", "rocky.toml", "-o", "table")
    assert (1, before) == (refused.code, (shop / "rocky.toml").read_text())
    assert "`rocky.toml` exists and is not an interface" in refused.err

    # One that was torn by a merge, or is still empty, may be replaced.
    rocky("publish", "-q")
    path = shop / "interface.json"
    whole = path.read_text()
    for text in ("<<<<<<< ours\n" + whole, ""):
        path.write_text(text)
        assert (0, whole) == (rocky("publish", "-q").code, path.read_text())


def test_a_project_with_errors_publishes_nothing(rocky, shop):
    write(shop, {"models/orders.sql": "SELECT nope FROM raw.orders"})
    answer = rocky("publish", "-o", "table")

    assert 1 == answer.code
    assert "E003" in answer.err
    assert "nothing was published" in answer.err
    assert not (shop / "interface.json").exists()


def publish_both(rocky, shop, monkeypatch) -> str:
    """Publish the shop, accept it in finance, publish finance; the path of its interface."""
    finance = write(shop.parent / "finance", FINANCE)
    rocky("publish", "-q")
    for name in ("shop.json", "shop.baseline.json"):
        write(finance, {f"imports/{name}": (shop / "interface.json").read_text()})
    monkeypatch.chdir(finance)
    rocky("publish", "-q")
    monkeypatch.chdir(shop)
    return "../finance/interface.json"


@pytest.mark.parametrize("command", ["compile", "ci"])
def test_a_compile_tells_what_would_break_consumers(rocky, shop, monkeypatch, command):
    consumer = publish_both(rocky, shop, monkeypatch)
    assert 0 == rocky(command, "--consumers", consumer, "-o", "json").code
    write(shop, {"models/orders.sql": "SELECT id, status FROM raw.orders\n"})

    assert 0 == rocky(command, "-o", "json").code
    answer = rocky(command, "--consumers", consumer, "-o", "json")
    assert 1 == answer.code
    assert [("E030", "orders")] == [
        (each["code"], each["model"]) for each in answer.json["diagnostics"]
    ]
    assert [] == check(answer.json, command)
    settings = f'[publish]\nconsumers = ["{consumer}"]\n[pipeline.shop]\n'
    write(shop, {"rocky.toml": settings})
    assert 1 == rocky(command, "-o", "json").code


def test_a_warning_for_consumers_has_the_level_that_the_project_gives_it(rocky, shop, monkeypatch):
    consumer = publish_both(rocky, shop, monkeypatch)
    wider = "SELECT id, amount + amount AS amount, status FROM raw.orders\n"
    write(shop, {"models/orders.sql": wider})
    assert 4 == rocky("ci", "--consumers", consumer, "-o", "json").code

    write(shop, {"rocky.toml": SHOP["rocky.toml"] + '[lints]\nimport-type-widened = "error"\n'})
    assert 1 == rocky("ci", "--consumers", consumer, "-o", "json").code


def test_a_consumers_file_that_is_not_there_fails_the_compile(rocky, shop):
    answer = rocky("compile", "--consumers", "nowhere.json", "-o", "table")

    assert 1 == answer.code
    assert "the consumer at `nowhere.json`" in answer.out
