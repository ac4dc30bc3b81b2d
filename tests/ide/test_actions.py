"""Code actions: what is offered, and that the project compiles with it."""

import pytest

from rocky.diagnostics import Severity
from rocky.diagnostics.diagnostic import Span
from rocky.ide.actions import code_actions
from rocky.ide.edits import EditSet, Refused, edited_texts
from rocky.ide.verification import Renaming, verify_change
from tests.ide.projects import SHOP, at, compile_with, view_of, write


@pytest.fixture
def place(tmp_path):
    return write(tmp_path / "shop", SHOP)


def action(root, path, words, inside, kind):
    view = view_of(root)
    file, offset = at(view, path, words, inside)
    found = [each for each in code_actions(file, Span(offset, offset)) if each.kind == kind]
    return view, (found[0] if found else None)


@pytest.mark.parametrize(
    ("path", "wrong", "right"),
    [
        ("models/last.sql", "SELECT groos FROM orders", "SELECT gross FROM orders"),
        ("models/last.sql", "SELECT o.groos FROM orders o", "SELECT o.gross FROM orders o"),
        ("models/last.sql", "SELECT gross FROM ordres", "SELECT gross FROM orders"),
        ("models/last.sql", "SELECT id FROM raw.ordrs", "SELECT id FROM raw.orders"),
        (
            "models/last.sql",
            "SELECT uper(email) AS a FROM orders",
            "SELECT upper(email) AS a FROM orders",
        ),
        (
            "models/last.sql",
            "SELECT address.stret FROM raw.orders",
            "SELECT address.street FROM raw.orders",
        ),
        ("models/last.toml", 'descriptoin = "x"\n', 'description = "x"\n'),
        ("models/last.toml", 'depends_on = ["ordrs"]\n', 'depends_on = ["orders"]\n'),
        (
            "models/last.toml",
            '[[tests]]\ntype = "not_nul"\ncolumn = "gross"\n',
            '[[tests]]\ntype = "not_null"\ncolumn = "gross"\n',
        ),
        (
            "models/last.toml",
            '[[tests]]\ntype = "not_null"\ncolumn = "gros"\n',
            '[[tests]]\ntype = "not_null"\ncolumn = "gross"\n',
        ),
    ],
)
def test_the_name_that_a_finding_suggests_is_a_fix_that_clears_it(place, path, wrong, right):
    write(place, {path: wrong})
    view = view_of(place)
    finding = next(each for each in view.compilation.diagnostics if each.path == path)
    offset = finding.span.start
    found = [
        each for each in code_actions(view.open(path), Span(offset, offset)) if each.kind == "fix"
    ]

    assert found
    texts = edited_texts(view, found[0].change)
    assert right == texts[path]
    after = compile_with(place, place.parent)(texts)
    assert [] == [each for each in after.diagnostics if each.severity is Severity.ERROR]


def test_the_fix_that_a_finding_carries_is_offered(place):
    write(place, {"models/last.sql": "-- rocky: allow(P002)\nSELECT gross FROM orders\n"})

    view, found = action(place, "models/last.sql", "P002", "", "fix")

    assert found is not None
    assert "remove the allow" == found.title
    assert "\nSELECT gross FROM orders\n" == edited_texts(view, found.change)["models/last.sql"]


def test_an_allow_silences_the_finding_it_was_offered_for(place):
    view, found = action(place, "models/everything.sql", "*", "", "allow")

    assert found is not None
    texts = edited_texts(view, found.change)
    assert "SELECT * FROM orders  -- rocky: allow(P002)\n" == texts["models/everything.sql"]
    after = compile_with(place, place.parent)(texts)
    assert [] == [each for each in after.diagnostics if each.path == "models/everything.sql"]


def test_a_finding_on_which_spark_fails_has_no_allow(place):
    write(place, {"models/last.sql": "SELECT groos FROM orders"})

    assert action(place, "models/last.sql", "groos", "", "allow")[1] is None


@pytest.mark.parametrize(
    ("text", "listed"),
    [
        ("SELECT * FROM orders", "SELECT id,\n       customer_id,\n       gross,"),
        ("SELECT t.* FROM totals t", "SELECT t.customer_id, t.total, t.most FROM totals t"),
        ("SELECT * EXCEPT (most) FROM totals", "SELECT customer_id, total FROM totals"),
        (
            "SELECT * FROM totals a JOIN totals b ON true",
            "SELECT a.customer_id,\n       a.total,\n       a.most,\n       b.customer_id,",
        ),
    ],
)
def test_a_star_is_listed_and_the_columns_stay(place, text, listed):
    write(place, {"models/everything.sql": text, "models/last.sql": "SELECT 1 AS a"})

    view, found = action(place, "models/everything.sql", "*", "", "expand")

    assert found is not None
    check = compile_with(place, place.parent)
    assert isinstance(verify_change(view, found.change, check, Renaming()), EditSet)
    assert edited_texts(view, found.change)["models/everything.sql"].startswith(listed)


def test_a_contract_of_the_columns_that_were_worked_out_holds(place):
    view, found = action(place, "models/totals.sql", "WITH", "", "contract")

    assert found is not None
    ((path, text),) = found.change.created
    assert "contracts/totals.contract.toml" == path
    assert 'name = "total"\ntype = "decimal(20,2)"\nnullable = true\n' in text
    check = compile_with(place, place.parent)
    assert isinstance(verify_change(view, found.change, check, Renaming()), EditSet)


@pytest.mark.parametrize(
    ("text", "left", "made"),
    [
        (
            "WITH cheap AS (\n  SELECT id\n  FROM orders\n)\nSELECT id FROM cheap\n",
            "SELECT id FROM cheap\n",
            "SELECT id\nFROM orders\n",
        ),
        (
            "WITH cheap AS (SELECT id FROM orders), b AS (SELECT id FROM cheap) SELECT id FROM b",
            "WITH b AS (SELECT id FROM cheap) SELECT id FROM b",
            "SELECT id FROM orders\n",
        ),
        (
            "WITH b AS (SELECT id FROM orders), cheap AS (SELECT gross FROM orders)"
            " SELECT id FROM b, cheap",
            "WITH b AS (SELECT id FROM orders) SELECT id FROM b, cheap",
            "SELECT gross FROM orders\n",
        ),
    ],
)
def test_a_cte_becomes_a_model_that_its_query_reads(place, text, left, made):
    write(place, {"models/last.sql": text})

    view, found = action(place, "models/last.sql", "cheap", "", "extract")

    assert found is not None
    texts = edited_texts(view, found.change)
    assert {"models/last.sql": left, "models/cheap.sql": made} == texts
    check = compile_with(place, place.parent)
    done = verify_change(view, found.change, check, Renaming(same_reads=False))
    assert not isinstance(done, Refused)


def test_a_cte_that_reads_another_is_not_extracted(place):
    text = "WITH a AS (SELECT 1 AS x), b AS (SELECT x FROM a) SELECT x FROM b"
    write(place, {"models/last.sql": text})

    assert action(place, "models/last.sql", "b AS", "", "extract")[1] is None
