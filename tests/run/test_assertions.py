"""Assertions over real tables: one scan a table, and never a pass by accident."""

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project
from rocky.run.checks.assertions import check_model
from rocky.run.checks.relations import BoundRelations
from rocky.run.engine.classified import ClassifiedColumns
from rocky.run.engine.diagnosis import Diagnostician
from rocky.run.materialize.seeds import load_seed, seed_target
from rocky.spark.interface import Layout
from rocky.store.delta.change import Change
from rocky.store.warehouse import open_warehouse
from tests.run.memory_engine import MemoryEngine

CONFIG = '[pipeline.shop]\nmodels = "models/**"\n'
MODEL = "SELECT CAST(1 AS BIGINT) AS id, 'a' AS status"
ROWS = "SELECT * FROM (VALUES (1, 'a'), (2, 'b'), (2, NULL)) AS t(id, status)"


class Shop:
    """A project with one built model whose rows are ROWS, whatever its query says."""

    def __init__(self, root, tests, files=None, *, built=True):
        everything = {
            "rocky.toml": CONFIG,
            "models/m.sql": MODEL,
            "models/m.toml": tests,
            "seeds/known.csv": "status\na\n",
            **(files or {}),
        }
        for name, text in everything.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        self.compilation = compile_project(load_project(root, env={}), cache=False)
        assert not self.compilation.has_errors, self.compilation.diagnostics
        self.engine = MemoryEngine(root)
        self.warehouse = open_warehouse("warehouse", base=root)
        self.model = self.compilation.project.models["m"]
        if built:
            self._build()

    def _build(self):
        table = self.warehouse.table(self.model.target)
        columns = tuple(self.columns())
        frame = self.engine.frame(f"SELECT CAST(id AS BIGINT) AS id, status FROM ({ROWS})")
        written = self.engine.write(frame, table, Layout(), columns, frozenset())
        table.commit(Change("REPLACE", None, columns, (), written.files))

    def columns(self):
        from rocky.language.datatypes.types import StructField  # noqa: PLC0415 - only here

        for each in self.compilation.models["m"].columns:
            yield StructField(each.name, each.type, nullable=True)

    def check(self):
        with BoundRelations(self.compilation, self.warehouse, self.engine, "t") as relations:
            diagnostician = Diagnostician(self.compilation)
            classified = ClassifiedColumns(self.compilation)
            return check_model(self.model, relations, self.engine, diagnostician, classified)


def test_all_row_rules_of_a_table_are_answered_by_one_scan(tmp_path):
    tests = """
    [[tests]]
    type = "not_null"
    column = "id"
    [[tests]]
    type = "expression"
    expression = "id < 10"
    [[tests]]
    type = "row_count_range"
    min = 3
    max = 3
    """
    shop = Shop(tmp_path, tests)
    before = len(shop.engine.queries)
    outcomes = shop.check()

    assert [True, True, True] == [each.passed for each in outcomes]
    assert ["not_null:id", "expression", "row_count_range"] == [each.name for each in outcomes]
    assert 1 == len(shop.engine.queries) - before


def test_a_failure_counts_its_rows_and_shows_some(tmp_path):
    tests = "[[tests]]\ntype = 'not_null'\ncolumn = 'status'\nname = 'has a status'\nseverity = 'warning'\n"
    (outcome,) = Shop(tmp_path, tests).check()

    assert ("has a status", "warning", False, 1) == (
        outcome.name,
        outcome.severity,
        outcome.passed,
        outcome.failing_rows,
    )
    assert (("id", "status"), (("2", None),)) == (outcome.sample_columns, outcome.sample)


def test_duplicates_are_shown_with_how_often_they_are_there(tmp_path):
    (outcome,) = Shop(tmp_path, "[[tests]]\ntype = 'unique'\ncolumn = 'id'\n").check()

    assert (False, 2, ("id", "rows"), (("2", "2"),)) == (
        outcome.passed,
        outcome.failing_rows,
        outcome.sample_columns,
        outcome.sample,
    )


def test_a_question_that_cannot_be_answered_fails_and_hides_no_other(tmp_path):
    tests = """
    [[tests]]
    type = "expression"
    expression = "id IN (SELECT id FROM no_such_table)"
    [[tests]]
    type = "not_null"
    column = "id"
    """
    broken, fine = Shop(tmp_path, tests).check()

    assert (False, True) == (broken.passed, fine.passed)
    assert "no_such_table" in broken.error


def test_a_table_that_was_never_built_passes_nothing(tmp_path):
    tests = "[[tests]]\ntype = 'not_null'\ncolumn = 'id'\n[[tests]]\ntype = 'row_count_range'\nmax = 9\n"
    outcomes = Shop(tmp_path, tests, built=False).check()

    assert [False, False] == [each.passed for each in outcomes]
    assert {"`spark_catalog.default.m` has not been built: `rocky run --model m` builds it"} == {
        each.error for each in outcomes
    }


def test_an_aggregate_of_no_rows_compares_with_nothing(tmp_path):
    tests = (
        "[[tests]]\ntype = 'aggregate'\ncolumn = 'id'\nop = 'sum'\ncmp = 'gte'\nvalue = 0\nfilter = 'id > 99'\n"
        "[[tests]]\ntype = 'aggregate'\ncolumn = 'id'\nop = 'count'\ncmp = 'eq'\nvalue = 0\nfilter = 'id > 99'\n"
    )
    total, count = Shop(tmp_path, tests).check()

    assert ((False, "NULL"), (True, "0")) == (
        (total.passed, total.observed),
        (count.passed, count.observed),
    )


def test_a_relationship_reads_a_seed_by_its_name_loaded_or_not(tmp_path):
    tests = "[[tests]]\ntype = 'relationships'\ncolumn = 'status'\nto_table = 'known'\nto_column = 'status'\n"
    shop = Shop(tmp_path, tests)
    fresh = shop.check()
    seed = shop.compilation.project.seeds["known"]
    table = shop.warehouse.table(seed_target(seed, shop.compilation.project.config))
    load_seed(seed, table, shop.engine, {})
    (tmp_path / "seeds/known.csv").write_text("status\na\nb\n")

    assert fresh == shop.check()
    assert (False, 1, (("2", "b"),)) == (fresh[0].passed, fresh[0].failing_rows, fresh[0].sample)


def test_an_assertion_may_be_about_a_view_over_the_table(tmp_path):
    tests = "[[tests]]\ntype = 'not_null'\ncolumn = 'status'\ntable = 'v'\n"
    files = {
        "models/v.sql": "SELECT id, status FROM m WHERE id < 2",
        "models/v.toml": "[strategy]\ntype = 'view'\n",
    }
    (outcome,) = Shop(tmp_path, tests, files).check()

    assert outcome.passed


@pytest.mark.parametrize("built", [True, False])
def test_no_view_is_left_behind(tmp_path, built):
    shop = Shop(tmp_path, "[[tests]]\ntype = 'not_null'\ncolumn = 'status'\n", built=built)
    shop.check()

    assert [] == shop.engine.views.bound


def test_an_outcome_says_what_its_assertion_is_about(tmp_path):
    described = (
        '[[tests]]\ntype = "not_null"\ncolumn = "id"\ndescription = "an order has a number"\n'
    )
    (outcome,) = Shop(tmp_path, described).check()

    assert "an order has a number" == outcome.description
