"""A site of a project: what is in it, what never is, and where it may be written."""

import gzip
import json
import os
import re
import resource
from pathlib import Path

import pytest

import rocky
from rocky.errors import LedgerUnreadable, RockyError, WouldOverwrite
from rocky.operations.execution.run import run
from rocky.operations.migration.template import PlaygroundRequest, playground
from rocky.operations.page.docs import DocsRequest, docs
from rocky.operations.page.project_page import load_page
from rocky.operations.page.site_folder import LIST, write_site
from rocky.operations.workspace import Workspace
from rocky.plan.request import RunRequest
from tests.operations.projects import GOOD, open_project
from tests.operations.sites import HOSTILE, all_bytes, read_site


@pytest.fixture(scope="module")
def playground_site(tmp_path_factory):
    """The index and the details of the playground."""
    root = tmp_path_factory.mktemp("site") / "shop"
    playground(PlaygroundRequest(root))
    docs(Workspace(root), DocsRequest())
    return read_site(root / "target/docs")


def test_every_table_is_there_with_who_reads_it(playground_site):
    index, _ = playground_site
    names = [each["name"] for each in index["tables"]]
    revenue = next(each for each in index["tables"] if each["name"] == "fct_revenue")

    assert (11, 4, 2) == tuple(
        sum(each["kind"] == kind for each in index["tables"])
        for kind in ("model", "source", "seed")
    )
    assert ["fct_orders"] == [names[place] for place in revenue["reads"]]
    assert "spark_catalog.marts.fct_revenue" == revenue["target"]
    seeds = [each["target"] for each in index["tables"] if each["kind"] == "seed"]
    assert all(each.count(".") == 2 for each in seeds)
    assert ["not_null:month"] == revenue["tests"]
    assert "shop" == index["project"]
    assert [] == index["findings"]


def test_a_column_has_the_tag_that_it_inherits_and_says_from_where(tmp_path):
    tagged = {"models/good.toml": '[classification]\norder_id = "pii"\n', **GOOD}
    details = load_page(open_project(tmp_path, tagged)).details
    found = {each.name: each for table in details for each in table.columns}

    assert ("pii", "good.order_id") == (
        found["order_id"].classification,
        found["order_id"].tagged_at,
    )


def test_a_column_has_type_nullability_description_promise_and_lineage_both_ways(playground_site):
    index, details = playground_site
    place = {each["name"]: at for at, each in enumerate(index["tables"])}
    (amount,) = (each for each in details["fct_revenue"]["columns"] if each["name"] == "amount")
    (country,) = (each for each in details["fct_revenue"]["columns"] if each["name"] == "country")
    (ordered,) = (each for each in details["fct_orders"]["columns"] if each["name"] == "amount")

    assert {
        "name": "amount",
        "type": "decimal(22,2)",
        "nullable": True,
        "description": "Sum of the amounts of orders that are at least partly paid",
        "promise": {
            "type": "decimal(22,2)",
            "required": True,
            "protected": True,
            "optional": False,
        },
        "sources": [[place["fct_orders"], "amount", "aggregate"]],
    } == amount
    assert not country["nullable"]
    assert [place["fct_revenue"], "amount", "aggregate"] in ordered["readers"]


def test_a_model_has_its_sql_at_its_lines_its_tests_and_its_contract(playground_site):
    _, details = playground_site
    found = details["fct_orders"]

    assert found["code"]["text"].startswith("WITH countries_of")
    assert 9 == found["code"]["line"]
    assert "sql" == found["code"]["language"]
    assert {"unique_key": "order_id"} == found["settings"]
    assert [
        {"name": "not_null:month", "kind": "not_null", "severity": "error", "column": "month"}
    ] == [
        {name: each[name] for name in ("name", "kind", "severity", "column")}
        for each in details["fct_revenue"]["tests"]
    ]
    assert "contracts/fct_revenue.contract.toml" == details["fct_revenue"]["contract"]["path"]


@pytest.mark.slow
def test_the_last_run_is_told_and_not_what_its_failure_quoted(shop):
    def fail(name):
        if name.endswith(".report"):
            raise RockyError("the value 'alice@example.org' cannot be cast")

    shop.before_write = fail
    run(shop.workspace, RunRequest())
    docs(shop.workspace, DocsRequest())

    index, details = read_site(shop.root / "target/docs")
    record = shop.records()[0]
    assert record.run_id == index["runs"][0]["run_id"]
    assert 1 == index["runs"][0]["outcomes"]["failed"]
    assert ("failed", record.run_id) == tuple(
        details["report"]["last"][each] for each in ("outcome", "run_id")
    )
    assert "built" == details["alone"]["last"]["outcome"]
    assert [[0, "failed"]] == [each[:2] for each in details["report"]["recent"]]
    assert details["alone"]["last"]["rows"] is not None
    written = b"".join(all_bytes(shop.root / "target/docs").values())
    assert b"alice@example.org" not in written


@pytest.mark.slow
def test_a_table_that_was_reused_is_told_with_the_build_it_came_from(shop):
    run(shop.workspace, RunRequest())
    run(shop.workspace, RunRequest())
    docs(shop.workspace, DocsRequest())

    _, details = read_site(shop.root / "target/docs")
    newest, first = (each.run_id for each in shop.records())
    found = details["report"]
    assert ("reused", newest) == (found["last"]["outcome"], found["last"]["run_id"])
    assert ("built", first, 1) == tuple(
        found["built"][each] for each in ("outcome", "run_id", "rows")
    )
    assert [[0, "reused"], [1, "built"]] == [each[:2] for each in found["recent"]]


@pytest.mark.slow
def test_the_same_project_gives_the_same_bytes(shop):
    run(shop.workspace, RunRequest())
    docs(shop.workspace, DocsRequest(shop.root / "a"))
    docs(shop.workspace, DocsRequest(shop.root / "b"))
    docs(shop.workspace, DocsRequest(shop.root / "b"))

    assert all_bytes(shop.root / "a") == all_bytes(shop.root / "b")


def test_no_row_no_secret_and_no_classified_value_is_in_it(tmp_path):
    files = {
        **GOOD,
        "seeds/people.csv": "name,email\nAlice Liddell,alice@example.org\n",
        "models/good.toml": 'description = "from ${HOST}"\nmeta = { token = "${HOST}" }\n'
        '[classification]\namount = "pii"\n[[tests]]\ntype = "in_range"\ncolumn = "amount"\nmax = 987123\n'
        '[[test]]\nname = "adds up"\n[[test.given]]\nref = "raw.orders"\nrows = [{ order_id = 445566 }]\n',
        "models/varied.sql": "SELECT order_id FROM raw.orders WHERE amount > @var(limit)\n",
    }
    opened = open_project(
        tmp_path, files, environment={"HOST": "hunter2"}, variables={"limit": "31337"}
    )
    docs(opened, DocsRequest())

    index, details = read_site(tmp_path / "target/docs")
    written = b"".join(all_bytes(tmp_path / "target/docs").values()).decode()
    for text in ("Liddell", "alice@example.org", "hunter2", "31337", "987123", "445566"):
        assert text not in written
    assert {"amount": "pii"} == next(
        each["classified"] for each in index["tables"] if each["name"] == "good"
    )
    assert "@var(limit)" in details["varied"]["code"]["text"]
    assert "${HOST}" == details["good"]["meta"]["token"]


def test_markup_and_code_in_a_project_are_only_text(tmp_path):
    opened = open_project(tmp_path, HOSTILE)
    docs(opened, DocsRequest())

    index, details = read_site(tmp_path / "target/docs")
    for path in (tmp_path / "target/docs/data").iterdir():
        assert b"<" not in path.read_bytes()
    assert "<b>bold" in [each["name"] for each in index["tables"]]
    assert {"polluted": "<i>"} == details["<b>bold"]["meta"]["__proto__"]
    assert "\u2028" in details["<b>bold"]["code"]["text"]
    assert "one of '''" in details["<b>bold"]["tests"][0]["rule"]


def test_a_project_with_errors_has_a_site_that_shows_them(tmp_path):
    opened = open_project(
        tmp_path, {**GOOD, "models/wrong.sql": "SELECT nothing FROM raw.orders\n"}
    )

    report = docs(opened, DocsRequest())

    index, details = read_site(tmp_path / "target/docs")
    assert 1 == report.errors
    assert [("E003", "models/wrong.sql:1:8")] == [
        (each["code"], each["place"]) for each in details["wrong"]["findings"]
    ]
    assert 1 == next(each["errors"] for each in index["tables"] if each["name"] == "wrong")


def test_an_empty_project_has_a_site(tmp_path):
    (tmp_path / "rocky.toml").write_text('[adapter]\ntype = "spark"\n')

    report = docs(Workspace(tmp_path), DocsRequest())

    assert (0, 0, 0) == (report.models, report.sources, report.seeds)
    assert [] == read_site(tmp_path / "target/docs")[0]["tables"]


# ---------------------------------------------------------------- where it is written


def test_a_folder_that_is_no_site_is_left_alone(tmp_path):
    opened = open_project(tmp_path, GOOD)
    before = all_bytes(tmp_path / "models")

    with pytest.raises(WouldOverwrite, match="is not empty and no site of Rocky's"):
        docs(opened, DocsRequest(tmp_path / "models"))
    with pytest.raises(WouldOverwrite, match="is a file: name a folder"):
        docs(opened, DocsRequest(tmp_path / "rocky.toml"))

    assert before == all_bytes(tmp_path / "models")


def test_a_file_that_somebody_put_into_the_site_is_not_lost(tmp_path):
    opened = open_project(tmp_path, GOOD)
    docs(opened, DocsRequest())
    (tmp_path / "target/docs/CNAME").write_text("docs.shop.example")

    with pytest.raises(WouldOverwrite, match="files that Rocky did not write: `CNAME`"):
        docs(opened, DocsRequest())

    assert (tmp_path / "target/docs/CNAME").exists()


def test_an_earlier_site_is_replaced_whole(tmp_path):
    site = tmp_path / "site"
    write_site(site, {"old.js": b"1", "data/old.js": b"2"})
    write_site(site, {"new.js": b"3"})

    assert {"new.js", LIST} == set(all_bytes(site))
    assert ["site"] == [each.name for each in tmp_path.iterdir()]


def test_a_site_that_cannot_be_written_leaves_the_one_before(tmp_path):
    site = tmp_path / "site"
    write_site(site, {"old.js": b"1"})
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, hard))
    try:
        with pytest.raises(OSError, match="File too large"):
            write_site(site, {"new.js": b"3", "large.js": bytes(5000)})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    assert {"old.js", LIST} == set(all_bytes(site))
    assert ["site"] == [each.name for each in tmp_path.iterdir()]


def test_a_list_that_cannot_be_read_is_not_taken_for_ours(tmp_path):
    site = tmp_path / "site"
    site.mkdir()
    (site / LIST).write_text("{")
    with pytest.raises(RockyError, match="cannot be read"):
        write_site(site, {"new.js": b"3"})

    (site / LIST).write_text(json.dumps({"format": "another's", "files": [LIST]}))
    with pytest.raises(WouldOverwrite, match="no site of Rocky's"):
        write_site(site, {"new.js": b"3"})


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    write_site(tmp_path / "link", {"new.js": b"3"})

    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real/new.js").exists()


def test_whoever_may_read_the_folder_may_read_the_site(tmp_path):
    mask = os.umask(0o022)
    try:
        write_site(tmp_path / "site", {"new.js": b"3"})
    finally:
        os.umask(mask)

    assert 0o755 == (tmp_path / "site").stat().st_mode & 0o777


def test_a_state_that_cannot_be_read_is_not_taken_for_none(tmp_path):
    opened = open_project(tmp_path, GOOD)
    (tmp_path / ".rocky-state.db").write_bytes(b"no database" * 100)

    with pytest.raises(LedgerUnreadable):
        docs(opened, DocsRequest())

    assert not (tmp_path / "target").exists()


# ---------------------------------------------------------------- the page's own files

ASSETS = Path(rocky.__file__).parent / "operations/page/assets"


def test_the_scripts_are_small_and_the_page_has_none_inside():
    page = (ASSETS / "index.html").read_text()
    # As a server sends them; a disk has room.
    scripts = sum(len(gzip.compress(path.read_bytes())) for path in ASSETS.glob("*.js"))

    assert scripts < 50_000
    assert page.count("<script") == page.count('<script src="')
    assert "style=" not in page
    assert "default-src 'none'" in page
    assert "unsafe" not in page


@pytest.mark.parametrize("path", sorted(ASSETS.glob("*.js")), ids=lambda path: path.name)
def test_no_script_makes_markup_or_code_of_a_text(path):
    text = path.read_text()

    for word in (
        "innerHTML",
        "outerHTML",
        "insertAdjacent",
        "document.write",
        "eval(",
        "new Function",
        "fetch(",
        "XMLHttp",
        "import(",
        "http:",
        "https:",
    ):
        assert word not in text.replace("http://www.w3.org/2000/svg", "")


def test_each_colour_is_said_once():
    text = (ASSETS / "rocky.css").read_text()

    named = re.findall(r"^\s*(--[a-z-]+):", text, re.MULTILINE)
    assert 20 < len(named) == len(set(named))


def test_a_table_of_unknown_columns_is_named_with_the_command_that_makes_them_known(tmp_path):
    config = '[compile]\nundeclared = "unknown"\n\n[pipeline.p]\nmodels = "models/**"\n'
    files = {
        "rocky.toml": config,
        "models/everything.sql": "SELECT * FROM lake.events\n",
        "models/top.sql": "SELECT x FROM everything\n",
    }
    docs(open_project(tmp_path, files), DocsRequest())
    _, details = read_site(tmp_path / "target/docs")

    said = [["lake.events", "rocky discover lake.events --write"]]
    named = {"lake.events", "everything", "top"}
    assert dict.fromkeys(named, said) == {name: details[name]["unknown"] for name in named}
    assert "unknown" not in details["raw.orders"] or [] == details["raw.orders"]["unknown"]


def test_a_test_has_the_line_that_declares_it(tmp_path):
    declared = (
        '[[tests]]\ntype = "not_null"\ncolumn = "amount"\n\n[[tests]]\ntype = "unique"\n'
        'column = "order_id"\n\n[[test]]\nname = "none of nothing"\n[test.expect]\nrows = []\n'
    )
    page = load_page(open_project(tmp_path, {**GOOD, "models/good.toml": declared}))
    (place,) = (at for at, each in enumerate(page.index.tables) if each.name == "good")

    assert [
        ("not_null:amount", "models/good.toml:1"),
        ("unique:order_id", "models/good.toml:5"),
        ("none of nothing", "models/good.toml:9"),
    ] == [(each.name, each.place) for each in page.details[place].tests]
