"""The state of a branch: what is in its hash, and what must never be."""

from dataclasses import replace

import pytest

from rocky.analysis.changes.change import (
    Change,
    Impact,
    MissingPlan,
    ProjectDiff,
    Reached,
    TableDiff,
    UncomparedModel,
)
from rocky.analysis.changes.diff import diff_compilations
from rocky.branches.promotion.clearance import refuse_breaking
from rocky.branches.state_hash import compute_state, find_changed_parts
from rocky.branches.tables import BranchTable, BranchView, judge_change
from rocky.canonical import canonical_json, text_hash
from rocky.compiler.passes import compile_project
from rocky.errors import ApprovalRefused, PromotionRefused
from rocky.project import load_project
from rocky.store.warehouse import open_warehouse
from tests.branches.statements import RECORD
from tests.store.tables import ids, replace_with, table_in

FILES = {
    "rocky.toml": '[pipeline.p]\nmodels = "models/**"\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.orders"\nformat = "jdbc"\ntable = "orders"\n'
        'options = { password = "${PASSWORD:-none}" }\n'
        'columns = [ { name = "id", type = "bigint" } ]\n'
    ),
    "seeds/countries.csv": "code\nDE\n",
    "models/orders.sql": "SELECT id FROM raw.orders",
    "models/orders.toml": 'intent = "all orders"\n',
    "models/_defaults.toml": '[tags]\nteam = "core"\n',
    "models/orders.contract.toml": '[[columns]]\nname = "id"\n',
    "models/report.py": "def model(orders):\n    return orders\n",
    "models/report.toml": 'output = [ { name = "id", type = "bigint" } ]\n',
}
NO_DIFF = ProjectDiff()


def compiled(root, files=FILES, env=None):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return compile_project(load_project(root, env=env or {}), jobs=1, cache=False)


def view_of(root, *tables):
    warehouse = open_warehouse("warehouse", base=root)
    return BranchView(RECORD, warehouse, warehouse, {each.target.lower(): each for each in tables})


def state_in(root, files=FILES, env=None, diff=NO_DIFF):
    return compute_state(compiled(root, files, env), view_of(root), diff)


@pytest.fixture(scope="module")
def plain(tmp_path_factory):
    return state_in(tmp_path_factory.mktemp("plain"))


def test_the_hash_is_of_the_canonical_document(plain):
    assert text_hash(canonical_json(plain.document)) == plain.hash
    assert {"orders", "report"} == set(plain.document["code"]["models"])
    assert "none" == plain.verdict


def test_it_does_not_depend_on_where_the_checkout_is_or_on_what_lies_beside_it(plain, tmp_path):
    beside = {
        ".rocky-state.db": "state",
        "models/.rocky-state.db": "state",
        ".rocky/approvals/feature/1.json": "{}",
        ".rocky/cache/x": "cache",
        "allowed_signers": "",
        "README.md": "words",
    }

    assert plain.document == state_in(tmp_path / "deep" / "er", {**FILES, **beside}).document


def test_a_value_from_the_environment_is_not_in_it(plain, tmp_path):
    assert plain.document == state_in(tmp_path, env={"PASSWORD": "hunter2"}).document


@pytest.mark.parametrize(
    ("name", "text", "moved"),
    [
        ("models/orders.sql", "SELECT id + 1 AS id FROM raw.orders", "code of model `orders`"),
        ("models/orders.sql", "SELECT id FROM raw.orders -- all", "code of model `orders`"),
        ("models/orders.toml", 'intent = "some orders"\n', "code of model `orders`"),
        (
            "models/report.py",
            "def model(orders):\n    return orders.limit(1)\n",
            "code of model `report`",
        ),
        ("models/new.sql", "SELECT 1 AS one", "code of model `new`"),
        ("seeds/countries.csv", "code\nFR\n", "seed `countries`"),
        ("seeds/countries.toml", '[target]\ntable = "other"\n', "seed `countries`"),
        ("models/orders.contract.toml", '[[columns]]\nname = "ID"\n', "contract of `orders`"),
        ("rocky.toml", FILES["rocky.toml"] + "[gc]\n", "the settings in `rocky.toml`"),
        (
            "sources/raw.toml",
            FILES["sources/raw.toml"].replace('orders"\noptions', 'orders2"\noptions'),
            "source `raw.orders`",
        ),
    ],
)
def test_everything_that_is_declared_is_in_it(plain, tmp_path, name, text, moved):
    other = state_in(tmp_path, {**FILES, name: text})

    assert moved in find_changed_parts(plain.document, other.document)
    assert plain.hash != other.hash


def test_what_a_folder_says_is_in_all_its_models(plain, tmp_path):
    other = state_in(tmp_path, {**FILES, "models/_defaults.toml": '[tags]\nteam = "other"\n'})

    assert ("code of model `orders`", "code of model `report`") == find_changed_parts(
        plain.document, other.document
    )


def test_the_verdict_is_in_it_whatever_the_order_of_changes(tmp_path):
    one = Change("column_removed", Impact.BREAKING, "id", reaches=(Reached("m", "id", "direct"),))
    two = Change("logic_changed", Impact.WARNING, "x")
    compilation, view = compiled(tmp_path), view_of(tmp_path)

    def verdict(*changes):
        diff = ProjectDiff((TableDiff("orders", "model", "modified", changes=changes),))
        return compute_state(compilation, view, diff).document["verdict"]

    assert "breaking" == verdict(one, two)["impact"]
    assert {"breaking": 1, "warning": 1} == verdict(one, two)["counts"]
    assert verdict(one, two) == verdict(two, one)
    assert verdict(one, two) != verdict(one)
    assert {"impact": "unknown"} == compute_state(compilation, view, None).document["verdict"]


def test_a_project_with_errors_has_no_state(tmp_path):
    with pytest.raises(ApprovalRefused, match="the project has errors"):
        state_in(tmp_path, {**FILES, "models/bad.sql": "SELECT nope FROM raw.orders"})


def test_a_changed_table_is_in_it_by_its_files_and_all_that_readers_see(tmp_path):
    table = table_in(tmp_path)
    made_of = replace_with(table, ids(table, 1)).snapshot
    compilation = compiled(tmp_path)

    def tables(snapshot, base=7):
        each = BranchTable(table.name, table, table, base, made_of, snapshot, made_of)
        return compute_state(compilation, view_of(tmp_path, each), NO_DIFF).document["tables"]

    changed = replace_with(table, ids(table, 1, 2)).snapshot
    marked = replace_with(table, ids(table, 1, 2), properties={"rocky.watermark": "5"}).snapshot
    files = [file.address for file in changed.files]
    assert {} == tables(made_of)
    found = tables(changed)["shop.core.orders"]
    assert (7, files[0], 2) == (found["base_version"], found["content"], found["rows"])
    assert found["content"] == tables(marked)["shop.core.orders"]["content"]
    assert found["layout"] != tables(marked)["shop.core.orders"]["layout"]
    false = replace(changed.files[0], stats='{"numRecords": 2, "maxValues": {"id": 0}}')
    hiding = tables(replace(changed, files=(false,)))["shop.core.orders"]
    assert found == {**hiding, "layout": found["layout"]}
    assert found["layout"] != hiding["layout"]
    assert {"base_version": 7} == tables(None)["shop.core.orders"]
    assert "base_version" not in tables(changed, None)["shop.core.orders"]


def test_a_function_that_no_model_calls_is_approved_too_because_a_check_may(tmp_path):
    body = "CREATE FUNCTION net(x INT) RETURNS INT RETURN x + {}"
    one, other = (
        state_in(tmp_path / str(at), {**FILES, "functions/net.sql": body.format(at)})
        for at in (1, 2)
    )

    assert ("function `net`",) == find_changed_parts(one.document, other.document)


GOVERNED = {
    **FILES,
    "rocky.toml": FILES["rocky.toml"] + '[mask]\npii = "redact"\n',
    "sources/raw.toml": FILES["sources/raw.toml"].replace(
        '"bigint" }', '"bigint", classification = "pii" }'
    ),
    "models/open.sql": "SELECT id FROM raw.orders",
    "models/open.toml": "",
}
TAKEN_OFF = '[[declassify]]\ncolumn = "id"\ntag = "pii"\nreason = "a number"\napproved_by = "dpo"\n'


@pytest.mark.parametrize(
    ("name", "text", "moved"),
    [
        ("models/open.toml", TAKEN_OFF, {"code of model `open`"}),
        (
            "rocky.toml",
            FILES["rocky.toml"] + '[mask]\npii = "none"\n',
            {"the settings in `rocky.toml`", "code of model `open`", "code of model `orders`"},
        ),
        (
            "rocky.toml",
            GOVERNED["rocky.toml"] + '[classifications]\nallow_unmasked = ["pii"]\n',
            {"the settings in `rocky.toml`"},
        ),
    ],
)
def test_a_declassification_or_another_mask_voids_what_was_approved(tmp_path, name, text, moved):
    one = state_in(tmp_path / "one", GOVERNED)
    other = state_in(tmp_path / "other", {**GOVERNED, name: text})

    assert moved <= set(find_changed_parts(one.document, other.document))
    assert one.hash != other.hash


def test_who_approved_a_declassification_and_why_is_approved_with_it(tmp_path):
    states = [
        state_in(tmp_path / str(at), {**GOVERNED, "models/open.toml": text})
        for at, text in enumerate(
            (
                TAKEN_OFF,
                TAKEN_OFF.replace("dpo", "somebody"),
                TAKEN_OFF.replace("a number", "why not"),
            )
        )
    ]

    assert 3 == len({each.hash for each in states})


def test_a_declassification_is_in_the_verdict_and_so_is_a_mask_that_is_gone(tmp_path):
    base = compiled(tmp_path / "base", GOVERNED)
    less = GOVERNED["rocky.toml"].replace('"redact"', '"none"')
    head = compiled(
        tmp_path / "head", {**GOVERNED, "models/open.toml": TAKEN_OFF, "rocky.toml": less}
    )
    diff = diff_compilations(base, head)
    broken = {(each.name, change.rule) for each in diff.tables for change in each.changes}

    assert {("open", "declassified"), ("orders", "mask_removed")} <= broken
    state = compute_state(head, view_of(tmp_path / "head"), diff)
    assert "breaking" == state.verdict
    assert state.hash != compute_state(head, view_of(tmp_path / "head"), NO_DIFF).hash


def test_a_change_that_was_not_compared_is_not_approved_as_one_that_breaks_nothing(tmp_path):
    missing = UncomparedModel("report", "models/report.py", (MissingPlan("report", "head"),))
    unseen = ProjectDiff(uncompared=(missing,))
    removed = TableDiff(
        "orders", "model", "removed", changes=(Change("model_removed", Impact.BREAKING),)
    )
    states = [
        state_in(tmp_path / str(at), diff=diff)
        for at, diff in enumerate((NO_DIFF, unseen, replace(unseen, tables=(removed,))))
    ]
    verdict = judge_change(unseen, view_of(tmp_path))

    assert ["none", "unknown", "breaking"] == [each.verdict for each in states]
    assert ["report"] == states[1].document["verdict"]["uncompared"]
    with pytest.raises(
        PromotionRefused, match=r"it is not known whether .*: `report` is not compared"
    ):
        refuse_breaking(verdict, ())
