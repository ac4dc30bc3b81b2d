"""What a consumer is told when its producer changes: everything it reads, and nothing else."""

from dataclasses import replace

import pytest

from rocky.analysis.imports import findings
from rocky.diagnostics import Code, Diagnostic, Severity
from rocky.project import load_project
from rocky.project.project import on_branch
from tests.analysis.imports.projects import Two, compiled, published, write

ID = "SELECT id, amount, status FROM raw.orders"


def test_an_unchanged_import_types_its_readers_and_says_nothing(tmp_path):
    two = Two(tmp_path)
    two.fetch()
    compilation = compiled(two.finance)

    assert () == compilation.diagnostics
    assert [("id", "bigint", False), ("amount", "decimal(18,2)", False)] == [
        (each.name, str(each.type), each.nullable) for each in compilation.models["revenue"].columns
    ]
    edge = compilation.models["revenue"].columns[1].edges[0]
    assert ("lake.shop.orders", "amount", "direct") == (edge.table, edge.column, edge.kind)


def test_nested_types_and_their_nullability_cross_the_border(tmp_path):
    nested = (
        "SELECT id, named_struct('a', id, 'b', array(amount)) AS s, map('k', id) AS m,"
        " tags, array(1, NULL) AS n, CAST(NULL AS INTERVAL DAY TO SECOND) AS i FROM raw.orders\n"
    )
    two = Two(tmp_path, {"models/revenue.sql": "SELECT * FROM shop.orders\n"})
    two.change(orders=nested)
    theirs, ours = compiled(two.shop).models["orders"], compiled(two.finance).models["revenue"]

    assert [(each.name, each.type, each.nullable) for each in theirs.columns] == [
        (each.name, each.type, each.nullable) for each in ours.columns
    ]


@pytest.mark.parametrize(
    ("orders", "expected"),
    [
        ("SELECT id, status FROM raw.orders", ["E030 revenue 'amount'"]),
        (
            "SELECT id, CAST(amount AS DECIMAL(9,2)) AS amount, status FROM raw.orders",
            ["E031 revenue 'amount'", "E032 revenue 'amount'"],
        ),
        (
            "SELECT id, coalesce(CAST(amount AS STRING), '') AS amount, status FROM raw.orders",
            ["E031 revenue 'amount'"],
        ),
        (
            "SELECT id, nullif(amount, 0) AS amount, status FROM raw.orders",
            ["E032 revenue 'amount'"],
        ),
        (
            "SELECT id, amount + amount AS amount, status FROM raw.orders",
            ["W031 revenue 'amount'"],
        ),
        ("SELECT id, amount FROM raw.orders", []),
        ("SELECT id, amount, 1 AS status FROM raw.orders", []),
        ("SELECT id, amount, status, 1 AS extra FROM raw.orders", []),
        ("SELECT status, amount, id FROM raw.orders", []),
        (ID + " WHERE id > 1", []),
    ],
)
def test_only_changes_of_columns_that_are_read_are_told(tmp_path, orders, expected):
    two = Two(tmp_path)
    two.change(orders=orders)

    assert expected == two.findings()


@pytest.mark.parametrize(
    ("reader", "place"),
    [
        ("SELECT id FROM lake.shop.orders WHERE status = 'x'", "status"),
        ("SELECT o.id FROM lake.shop.orders o ORDER BY o.status LIMIT 1", "o.status"),
        ("SELECT count(*) AS n FROM shop.orders GROUP BY status", "status"),
        ("SELECT a.id FROM shop.orders a JOIN shop.refunds b ON a.status = b.id", "a.status"),
        ("WITH o AS (SELECT status AS s FROM shop.orders) SELECT s FROM o", "status"),
        ("SELECT id FROM shop.refunds UNION ALL SELECT status FROM shop.orders", "status"),
        ("SELECT id FROM shop.refunds WHERE id IN (SELECT status FROM shop.orders)", "status"),
        ("SELECT max(id) OVER (PARTITION BY status) AS m FROM shop.orders", "status"),
        ("SELECT * FROM shop.orders", "*"),
        ("WITH o AS (SELECT * FROM shop.orders) SELECT * FROM o", "*"),
    ],
)
def test_a_dropped_column_is_told_where_it_is_read(tmp_path, reader, place):
    two = Two(tmp_path, {"models/revenue.sql": reader})
    two.change(orders="SELECT id, amount FROM raw.orders")

    assert [f"E030 revenue {place!r}"] == two.findings()


def test_a_star_that_is_narrowed_again_reads_only_what_is_named(tmp_path):
    reader = "WITH o AS (SELECT * FROM shop.orders) SELECT id FROM o"
    two = Two(tmp_path, {"models/revenue.sql": reader})
    two.change(orders="SELECT id, amount, 1 AS extra FROM raw.orders")

    assert [] == two.findings()


def test_every_model_that_reads_a_dropped_column_is_told(tmp_path):
    two = Two(tmp_path, {"models/other.sql": "SELECT sum(amount) AS s FROM shop.orders"})
    two.change(orders="SELECT id, status FROM raw.orders")

    assert ["E030 other 'amount'", "E030 revenue 'amount'"] == two.findings()


def test_a_model_below_one_that_reads_the_import_is_not_told_again(tmp_path):
    two = Two(tmp_path, {"models/below.sql": "SELECT amount FROM revenue"})
    two.change(orders="SELECT id, CAST(amount AS INT) AS amount, status FROM raw.orders")

    assert {"revenue"} == {each.split()[1] for each in two.findings()}


def test_a_query_that_names_a_new_column_wants_it(tmp_path):
    two = Two(tmp_path, {"models/revenue.sql": "SELECT id, total FROM shop.orders"})
    two.change(orders="SELECT id, amount AS total, status FROM raw.orders")

    assert [] == two.findings()


def test_a_star_is_told_of_a_new_column_as_a_note(tmp_path):
    two = Two(tmp_path, {"models/revenue.sql": "SELECT * FROM shop.refunds"})
    two.change(refunds="SELECT id, amount, status FROM raw.orders")
    (found,) = compiled(two.finance).diagnostics

    assert ("W030", Severity.INFO) == (found.code, found.severity)


def test_a_removed_table_is_told_to_its_readers_only(tmp_path):
    two = Two(tmp_path)
    two.change(refunds=None)
    assert [] == two.findings()

    two.change(orders=None, others="SELECT id FROM raw.orders")
    assert ["E035 revenue 'lake.shop.orders'"] == two.findings()


def test_a_renamed_table_is_one_removed_and_one_added(tmp_path):
    two = Two(tmp_path)
    two.change(orders=None, orders_v2=ID)
    assert ["E035 revenue 'lake.shop.orders'"] == two.findings()

    write(two.finance, {"models/revenue.sql": "SELECT id, amount FROM shop.orders_v2"})
    assert [] == two.findings()


def test_python_models_are_taken_to_read_every_column(tmp_path):
    code = "def model(orders):\n    return orders\n"
    sidecar = '[inputs]\norders = "lake.shop.orders"\n[[output]]\nname = "id"\ntype = "bigint"\n'
    two = Two(tmp_path, {"models/code.py": code, "models/code.toml": sidecar})
    two.change(orders="SELECT id, amount FROM raw.orders")

    assert ["E030"] == [each[:4] for each in two.findings()]

    two.change(orders="SELECT amount, id, status, 1 AS extra FROM raw.orders")
    assert ["E036", "W030"] == [each[:4] for each in two.findings()]


def test_a_query_that_is_not_understood_is_taken_to_read_every_column(tmp_path, monkeypatch):
    two = Two(tmp_path)
    real = findings.bind_text

    def confused(*given):
        odd = Diagnostic(Code.QUERY_NOT_UNDERSTOOD, "odd", severity=Severity.WARNING)
        return replace(real(*given), columns=(), diagnostics=(odd,))

    monkeypatch.setattr(findings, "bind_text", confused)
    two.change(orders="SELECT id, amount FROM raw.orders")

    assert ["E030 revenue ''"] == two.findings()


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("imports/shop.json", None, "there is no interface at `imports/shop.json`"),
        ("imports/shop.json", "{", "is not valid JSON"),
        ("imports/shop.json", "[]", "is not an interface"),
        ("imports/shop.json", '{"interface_version": true}', "is not an interface"),
        ("imports/shop.baseline.json", "{", "is not valid JSON"),
        ("imports/shop.baseline.json", "", "is not valid JSON"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_of_the_settings(tmp_path, name, content, expected):
    two = Two(tmp_path)
    two.fetch()
    path = two.finance / name
    path.unlink() if content is None else path.write_text(content)
    found = compiled(two.finance).diagnostics[0]

    # An error in the settings keeps every run from starting.
    assert ("E017", "rocky.toml") == (found.code, found.path)
    assert expected in found.message


@pytest.mark.parametrize("name", ["imports/shop.json", "imports/shop.baseline.json"])
def test_an_interface_that_was_edited_by_hand_is_refused(tmp_path, name):
    two = Two(tmp_path)
    two.fetch()
    path = two.finance / name
    path.write_text(path.read_text().replace("decimal(18,2)", "decimal(20,2)"))
    found = compiled(two.finance).diagnostics[0]

    assert "E017" == found.code
    assert "not as it was published" in found.message


def test_nothing_accepted_is_a_warning_that_says_what_to_run(tmp_path):
    two = Two(tmp_path)
    two.fetch()
    (two.finance / "imports/shop.baseline.json").unlink()
    (found,) = compiled(two.finance).diagnostics

    assert ("W012", Severity.WARNING) == (found.code, found.severity)
    assert "rocky imports update shop" in (found.help or "")


@pytest.mark.parametrize("pin", ["*", "{hash}"])
def test_a_pin_that_fits_says_nothing(tmp_path, pin):
    two = Two(tmp_path)
    two.fetch()
    known = load_project(two.finance, env={}).imports["shop"].snapshot.hash
    config = two.finance / "rocky.toml"
    config.write_text(config.read_text() + f'pin = "{pin.format(hash=known)}"\n')
    assert [] == two.findings()

    two.change(orders=ID + " WHERE true", refunds="SELECT id FROM raw.orders")
    assert ([] if pin == "*" else ["E033"]) == [each[:4] for each in two.findings()]


def test_a_source_that_is_declared_as_well_is_refused(tmp_path):
    source = '[[source]]\nname = "lake.shop.orders"\ncolumns = [{ name = "id", type = "int" }]\n'
    two = Two(tmp_path, {"sources/mine.toml": source})
    two.fetch()

    assert "E017 sources/mine.toml '\"lake.shop.orders\"'" in two.findings()


SHOWN = '[[source]]\nname = "shop.orders"\ncolumns = [{ name = "mine", type = "int" }]\n'
TARGET = '[target]\ncatalog = "{catalog}"\nschema = "shop"\n'


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"sources/mine.toml": SHOWN}, "W023 sources/mine.toml '\"shop.orders\"'"),
        (
            {"models/orders.sql": "SELECT 1 AS mine", "models/orders.toml": TARGET},
            "W023 models/orders.toml '[target]'",
        ),
        (
            {"seeds/orders.csv": "mine\n1\n", "seeds/orders.toml": TARGET},
            "W023 seeds/orders.csv ''",
        ),
    ],
)
def test_what_hides_a_short_name_is_said(tmp_path, files, expected):
    files = {name: text.replace("{catalog}", "own") for name, text in files.items()}
    two = Two(tmp_path, {**files, "models/revenue.sql": "SELECT mine FROM shop.orders"})
    two.fetch()

    assert [expected] == two.findings()


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"models/orders.sql": "SELECT 1L AS id, 2.0BD AS amount", "models/orders.toml": TARGET},
            "E017 orders '[target]'",
        ),
        (
            {"seeds/orders.csv": "id,amount\n1,2\n", "seeds/orders.toml": TARGET},
            "E017 seeds/orders.csv ''",
        ),
    ],
)
def test_a_table_of_another_project_cannot_be_written(tmp_path, files, expected):
    files = {name: text.replace("{catalog}", "lake") for name, text in files.items()}
    two = Two(tmp_path, files)
    two.fetch()

    assert [expected] == two.findings()


@pytest.mark.parametrize(
    ("reader", "orders", "expected"),
    [
        # By place: a union, and the names of a CTE.
        (
            "SELECT 1L AS i, 2.0BD AS a, 's' AS s UNION ALL SELECT * FROM shop.orders",
            "SELECT status, amount, id FROM raw.orders",
            ["E036 revenue 'shop.orders'"],
        ),
        (
            "WITH o(i, a, s) AS (SELECT * FROM shop.orders) SELECT i - a AS d FROM o",
            "SELECT amount, id, status FROM raw.orders",
            ["E036 revenue 'shop.orders'"],
        ),
        ("SELECT * FROM shop.orders", "SELECT status, amount, id FROM raw.orders", []),
        # A name that finds the new column: of a lateral alias, of an outer query.
        (
            "SELECT amount * 2 AS q, q + 1 AS z FROM shop.orders",
            "SELECT id, amount, status, amount AS q FROM raw.orders",
            ["E036 revenue 'z'"],
        ),
        (
            "SELECT t FROM (SELECT 1L AS t) WHERE EXISTS (SELECT 1 FROM shop.orders WHERE id = t)",
            "SELECT id, amount, status, id AS t FROM raw.orders",
            ["E036 revenue 'shop.orders'"],
        ),
        (
            "SELECT * FROM shop.orders NATURAL JOIN (SELECT 1L AS id, 2L AS w)",
            "SELECT id, amount, status, id AS w FROM raw.orders",
            ["E036 revenue 'shop.orders'"],
        ),
        (
            "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM shop.orders)",
            "SELECT id, amount, status, 1 AS n FROM raw.orders",
            ["E036 revenue 'shop.orders'"],
        ),
        (
            "SELECT count(*) AS n FROM (SELECT DISTINCT * FROM shop.orders)",
            "SELECT id, amount FROM raw.orders",
            ["E030 revenue 'shop.orders'"],
        ),
    ],
)
def test_a_query_that_means_something_else_now_is_told(tmp_path, reader, orders, expected):
    two = Two(tmp_path, {"models/revenue.sql": reader})
    two.change(orders=orders)

    assert expected == two.findings()


MARKED = '[classification]\nstatus = "internal"\namount = "secret"\n'
PROMISES = '[rules]\nrequired = ["id"]\nprotected = ["status"]\nstrict = true\n'
EVERY = "".join(f'[[columns]]\nname = "{name}"\n' for name in ("id", "amount", "status"))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        (
            {"models/orders.toml": 'strategy = "view"\n' + MARKED},
            ["its strategy is `view` and was"],
        ),
        ({"models/orders.toml": MARKED.replace("amount", "#")}, ["it was classified as `secret`"]),
        ({"models/orders.toml": MARKED.replace("status", "#")}, []),
        (
            {"contracts/orders.contract.toml": EVERY + PROMISES.replace("true", "false")},
            ["its contract was strict"],
        ),
        (
            {"contracts/orders.contract.toml": EVERY + PROMISES.replace('"id"', "")},
            ["its contract had the column as `required`"],
        ),
        ({"contracts/orders.contract.toml": EVERY + PROMISES.replace('"status"', "")}, []),
    ],
)
def test_a_promise_that_is_withdrawn_is_told_to_those_it_was_made_to(tmp_path, files, expected):
    two = Two(tmp_path)
    kept = {"models/orders.toml": MARKED, "contracts/orders.contract.toml": EVERY + PROMISES}
    write(two.shop, kept)
    two.fetch("imports/shop.baseline.json")
    write(two.shop, files)
    two.fetch()
    found = [each for each in compiled(two.finance).diagnostics if each.code != "W004"]

    assert [("E045", "revenue")] * len(expected) == [(each.code, each.model) for each in found]
    assert all(said in each.notes[0] for said, each in zip(expected, found, strict=True))


def test_a_column_that_became_not_null_is_a_note(tmp_path):
    two = Two(tmp_path, {"models/revenue.sql": "SELECT status FROM shop.orders"})
    two.change(orders="SELECT id, amount, coalesce(status, '') AS status FROM raw.orders")
    (found,) = compiled(two.finance).diagnostics

    assert ("W032", Severity.INFO) == (found.code, found.severity)


def test_many_columns_that_nobody_reads_cost_few_looks(tmp_path, monkeypatch):
    two = Two(tmp_path)
    more = "".join(f", id + {number} AS c{number}" for number in range(200))
    two.change(orders=f"SELECT id, amount, status{more} FROM raw.orders")
    looks = []
    real = findings.bind_text
    monkeypatch.setattr(findings, "bind_text", lambda *given: looks.append(1) or real(*given))

    assert [] == two.findings()
    assert len(looks) < 10


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        ('baseline = "imports/shop.json"', "each needs a file of its own"),
        ('baseline = "imports/../imports/shop.json"', "each needs a file of its own"),
        ('baseline = "${HOME}/x.json"', "cannot come from a variable"),
        ("pinn = 1", "unknown key `pinn`"),
    ],
)
def test_settings_of_an_import_that_cannot_be_meant_are_refused(tmp_path, block, expected):
    two = Two(tmp_path)
    two.fetch()
    config = two.finance / "rocky.toml"
    config.write_text(config.read_text() + block + "\n")
    found = compiled(two.finance, {"HOME": "x"}).diagnostics

    assert any(expected in each.message for each in found if each.code == "E018")


def test_where_tables_lie_stays_hidden_when_it_came_from_a_variable(tmp_path):
    two = Two(tmp_path)
    two.fetch()
    config = two.finance / "rocky.toml"
    config.write_text(config.read_text() + 'warehouse = "${LAKE}/tables/"\n')
    table = load_project(two.finance, env={"LAKE": "s3://hunter2"}).sources["lake.shop.orders"]

    assert ("delta", "s3://hunter2/tables/lake/shop/orders") == (table.format, str(table.path))
    assert "'${LAKE}/tables/lake/shop/orders'" == repr(table.path)
    assert "hunter2" not in published(two.finance, {"LAKE": "s3://hunter2"})


def test_on_a_branch_the_tables_of_others_are_where_they_were(tmp_path):
    two = Two(tmp_path)
    two.fetch()
    config = two.finance / "rocky.toml"
    config.write_text(config.read_text() + 'warehouse = "warehouse"\n')
    project = load_project(two.finance, env={})
    table = on_branch(project, "try").sources["lake.shop.orders"]

    assert "warehouse/lake/shop/orders" == table.path
