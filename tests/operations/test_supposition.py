"""What would not compile, by compiling it: equal to a cold compile of the edited project."""

import pytest

import rocky
from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Severity
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.graph import supposition
from rocky.operations.graph.supposition import SuppositionReport, SuppositionRequest, suppose
from rocky.operations.workspace import Workspace, compile_workspace
from tests.cli.conftest import CONFIG, ORDERS
from tests.operations.projects import open_project
from tests.operations.test_pipeline_tables import DECLARED
from tests.pipelines.lakes import ORDERS as COPY
from tests.pipelines.lakes import LakeProject, at
from tests.run.runs import write

FILES = {
    "models/stg.sql": "SELECT order_id, amount, status FROM raw.orders\n",
    "models/total.sql": "SELECT sum(amount) AS total, count(*) AS many FROM stg\n",
    "models/total.toml": '[[tests]]\ntype = "expression"\nexpression = "total > 0"\n',
    "models/half.sql": "SELECT order_id, amount / 2 AS half FROM stg WHERE status <> 'new'\n",
    "models/kept.sql": "SELECT * FROM stg\n",
    "models/priced.sql": "SELECT k.order_id, p.price FROM kept k JOIN prices p USING (order_id)\n",
    "models/rows.sql": "SELECT order_id FROM stg WHERE amount IS NOT NULL\n",
    "models/alone.sql": "SELECT 1 AS one\n",
    "models/broken.sql": "SELECT nothing FROM stg\n",
    "contracts/kept.contract.toml": (
        '[[columns]]\nname = "amount"\ntype = "decimal(12,2)"\n'
        '[[columns]]\nname = "order_id"\ntype = "bigint"\nnullable = false\n'
    ),
    "seeds/prices.csv": "order_id,price\n,2\n",
    "seeds/prices.toml": (
        'columns = [{ name = "order_id", type = "bigint" }, { name = "price", type = "int" }]\n'
    ),
}
AMOUNT = '{ name = "amount", type = "decimal(12,2)" },'


def tell(workspace: Workspace, column: str, **supposed) -> SuppositionReport:
    return suppose(workspace, SuppositionRequest(column, **supposed))


def errors_of(compilation: Compilation, edited: str = "") -> set[tuple]:
    """The errors with their places; in the file that is edited a place is another."""
    texts = compilation.project.texts
    return {
        (
            each.code,
            each.message,
            each.path,
            None if each.path == edited else texts[each.path].position(each.span.start),
        )
        for each in compilation.diagnostics
        if each.severity is Severity.ERROR
    }


def told_errors(report: SuppositionReport, edited: str) -> set[tuple]:
    found = [error for each in (*report.broken, *report.contracts) for error in each.errors]
    return {
        (
            each.code,
            each.message,
            each.span.file,
            None if each.span.file == edited else (each.span.line, each.span.col),
        )
        for each in (*found, *report.errors)
    }


def schemas_of(compilation: Compilation) -> dict:
    return {
        name: {each.name: (str(each.type), each.nullable) for each in ir.columns}
        for name, ir in compilation.models.items()
    }


def told_schemas(report: SuppositionReport) -> dict:
    return {
        each.model: {
            column.column: column.after and (column.after.data_type, column.after.nullable)
            for column in each.columns
        }
        for each in (*report.retyped, *report.untold)
    }


SUPPOSED = {
    "a type": (
        ("raw.orders.amount", {"data_type": "array<int>"}),
        ("sources/raw.toml", AMOUNT, '{ name = "amount", type = "array<int>" },'),
    ),
    "a string": (
        ("raw.orders.amount", {"data_type": "string"}),
        ("sources/raw.toml", AMOUNT, '{ name = "amount", type = "string" },'),
    ),
    "dropped": (("raw.orders.amount", {"dropped": True}), ("sources/raw.toml", AMOUNT, "")),
    "nullable": (
        ("RAW.orders.Order_ID", {"nullable": True}),
        ("sources/raw.toml", '"bigint", nullable = false', '"bigint"'),
    ),
    "a seed's": (
        ("prices.order_id", {"data_type": "date"}),
        ("seeds/prices.toml", '"order_id", type = "bigint"', '"order_id", type = "date"'),
    ),
    "a model's": (
        ("stg.amount", {"data_type": "date", "nullable": True}),
        ("models/stg.sql", "amount,", "date(string(amount)) AS amount,"),
    ),
    "a model's, dropped": (("stg.amount", {"dropped": True}), ("models/stg.sql", "amount, ", "")),
    "one with a contract": (
        ("kept.amount", {"data_type": "string"}),
        ("models/kept.sql", "*", "order_id, CAST(amount AS string) AS amount, status"),
    ),
}


@pytest.mark.parametrize("case", SUPPOSED)
def test_what_is_told_is_what_a_cold_compile_of_the_edited_project_finds(tmp_path, case):
    (column, supposed), (path, old, new) = SUPPOSED[case]
    workspace = open_project(tmp_path, FILES)
    before = compile_workspace(workspace, cache=False)
    report = tell(workspace, column, **supposed)
    text = (tmp_path / path).read_text()
    assert old in text
    (tmp_path / path).write_text(text.replace(old, new, 1))
    after = compile_workspace(workspace, cache=False)

    assert errors_of(after, path) - errors_of(before, path) == told_errors(report, path)
    then, now = schemas_of(before), schemas_of(after)
    failing = {each.model for each in report.broken}
    others = {
        name: {
            each: now[name].get(each)
            for each in {**then[name], **now[name]}
            if then[name].get(each) != now[name].get(each)
        }
        for name in then
        if then[name] != now[name] and name not in {*failing, report.supposed.model}
    }
    assert others == told_schemas(report)
    assert 1 == report.errors_now


def test_a_string_breaks_a_contract_changes_types_and_leaves_the_rest(tmp_path):
    report = tell(open_project(tmp_path, FILES), "raw.orders.amount", data_type="STRING")

    assert ("decimal(12,2)", "string") == (
        report.supposed.before.data_type,
        report.supposed.after.data_type,
    )
    assert [("kept", ["E011"])] == [
        (each.model, [error.code for error in each.errors]) for each in report.contracts
    ]
    assert ["half", "kept", "stg", "total"] == sorted(each.model for each in report.retyped)
    assert ("rows",) == report.reached
    assert "W020" in [each.code for each in report.warnings]
    assert not report.is_harmless


def test_what_is_made_of_what_would_break_is_told_apart(tmp_path):
    report = tell(open_project(tmp_path, FILES), "raw.orders.amount", dropped=True)

    assert ["stg"] == [each.model for each in report.broken]
    assert ["half", "kept", "total"] == sorted(each.model for each in report.untold)
    assert report.supposed.after is None


def test_a_copy_of_a_pipeline_has_the_column_as_its_source_is_supposed_to(tmp_path):
    lake = LakeProject(tmp_path)
    lake.put([{"id": 1, "amount": 2.5, "synced": at(1)}])
    model = f"SELECT abs(amount) AS amount FROM {COPY}\n"
    write(tmp_path, {"sources/five.toml": DECLARED, "models/stg.sql": model})
    report = tell(Workspace(tmp_path), "five.orders.amount", data_type="date")

    assert ["stg"] == [each.model for each in report.broken]


def test_no_file_of_the_project_and_no_cache_is_touched(tmp_path):
    workspace = open_project(tmp_path, FILES)
    compile_workspace(workspace)
    files = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    tell(workspace, "raw.orders.amount", dropped=True)

    assert files == {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    after = compile_workspace(workspace)
    assert (0, 1) == (after.statistics.bound, len(errors_of(after)))


def test_only_readers_that_see_the_difference_are_bound(tmp_path, monkeypatch):
    """Also where tables are read that nobody declares, which a compile adds to the project."""
    bound = []
    open_to_all = f'{CONFIG}\n[compile]\nundeclared = "unknown"\n'
    lake = {"models/lake.sql": "SELECT * FROM lake.events\n", "rocky.toml": open_to_all}
    workspace = open_project(tmp_path, {**FILES, **lake})
    compiled = supposition.compile_supposed

    def noted(*given):
        found = compiled(*given)
        bound.append(found.statistics.bound)
        return found

    monkeypatch.setattr(supposition, "compile_supposed", noted)
    tell(workspace, "prices.price", data_type="bigint")
    tell(workspace, "rows.order_id", data_type="string")

    assert [1, 0] == bound


MASKED = {
    "rocky.toml": CONFIG
    + '\n[mask]\npii = "hash"\n[governance]\nenforce = "twin"\nrestricted_schema = "clear"\n',
    "sources/raw.toml": ORDERS.replace(
        '"status", type = "string"', '"status", type = "string", classification = "pii"'
    ),
    "models/stg.sql": "SELECT order_id, status FROM raw.orders\n",
    "models/long.sql": "SELECT order_id, status FROM stg WHERE order_id > 1\n",
}


def test_masks_and_their_twins_change_nothing_of_what_is_told(tmp_path):
    masked = tell(open_project(tmp_path / "m", MASKED), "raw.orders.order_id", data_type="int")
    plain = {**MASKED, "rocky.toml": CONFIG}
    clear = tell(open_project(tmp_path / "c", plain), "raw.orders.order_id", data_type="int")

    assert ["stg", "long"] == [each.model for each in masked.retyped]
    assert (clear.retyped, clear.reached) == (masked.retyped, masked.reached)


def test_what_cannot_be_supposed_is_refused_with_the_reason(tmp_path):
    opened = rocky.open(open_project(tmp_path, FILES).config)
    wrong = {
        "`strng` is not a Spark type": {"target": "raw.orders.amount", "data_type": "strng"},
        "say what becomes of the column": {"target": "raw.orders.amount"},
        "leave them out": {"target": "stg.amount", "dropped": True, "nullable": True},
        "is no column": {"target": "stg", "dropped": True},
        "the only column of `alone`": {"target": "alone.one", "dropped": True},
    }
    for words, given in wrong.items():
        with pytest.raises(InvalidRequest, match=words):
            opened.suppose(**given)
    for given, words in (("stg.amuont", "did you mean `amount`"), ("sgt.amount", "did you mean")):
        with pytest.raises(NothingSelected, match=words):
            opened.suppose(given, dropped=True)


def test_at_a_prompt_it_is_a_line_with_the_first_error(tmp_path):
    shown = repr(tell(open_project(tmp_path, FILES), "raw.orders.amount", dropped=True))

    assert shown.startswith("<SuppositionReport: raw.orders.amount: 1 model would break>")
    assert "models/stg.sql:1:18: error[E003]" in shown
