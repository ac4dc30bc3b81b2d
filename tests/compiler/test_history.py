"""A snapshot's table has more columns than its query, and readers see them."""

from pathlib import Path

from rocky.analysis.compilation import Compilation
from rocky.compiler.passes import compile_project
from rocky.project import load_project
from tests.compiler.projects import SHOP, write

KEPT = (
    "-- models/kept.sql\n"
    "SELECT id, amount, coalesce(note, '') AS note, TIMESTAMP '2024-01-01 00:00:00' AS seen\n"
    "FROM raw.orders\n"
)


def compile_snapshot(root: Path, settings: str, reader: str = "SELECT * FROM kept") -> Compilation:
    write(root, {**SHOP, "models/kept.sql": KEPT, "models/reader.sql": reader})
    write(root, {"models/kept.toml": f'[strategy]\ntype = "snapshot"\n{settings}'})
    return compile_project(load_project(root, env={}), cache=False)


def test_a_snapshot_has_the_columns_of_its_query_and_then_those_of_its_history(tmp_path):
    compiled = compile_snapshot(tmp_path, 'unique_key = ["id"]\nupdated_at = "seen"\n')
    columns = [
        (each.name, str(each.type), each.nullable) for each in compiled.models["reader"].columns
    ]

    assert [
        ("valid_from", "timestamp", False),
        ("valid_to", "timestamp", True),
        ("is_current", "boolean", False),
        ("snapshot_id", "string", False),
    ] == columns[4:]
    assert 8 == len(compiled.models["kept"].columns)


def test_the_id_of_a_version_comes_from_the_key(tmp_path):
    compiled = compile_snapshot(tmp_path, 'unique_key = ["id"]\n')
    identity = compiled.models["kept"].column("snapshot_id")

    assert [("raw.orders", "id", "expression")] == [
        (edge.table, edge.column, edge.kind) for edge in identity.edges
    ]


def test_a_snapshot_that_dates_rows_itself_does_not_repeat(tmp_path):
    undated = compile_snapshot(tmp_path / "a", 'unique_key = ["id"]\n')
    dated = compile_snapshot(tmp_path / "b", 'unique_key = ["id"]\nupdated_at = "seen"\n')

    assert (False, True) == (
        undated.models["kept"].deterministic,
        dated.models["kept"].deterministic,
    )


def test_a_key_the_query_does_not_give_is_an_error(tmp_path):
    compiled = compile_snapshot(tmp_path, 'unique_key = ["gone"]\nupdated_at = "never"\n')

    assert {"E041", "E020"} == {
        each.code.value for each in compiled.diagnostics if each.model == "kept"
    } - {"P001"}


def test_a_query_that_gives_a_history_column_itself_is_an_error(tmp_path):
    write(tmp_path, {**SHOP, "models/kept.sql": "SELECT id, 1 AS Valid_From FROM raw.orders\n"})
    write(tmp_path, {"models/kept.toml": '[strategy]\ntype = "snapshot"\nunique_key = ["id"]\n'})
    compiled = compile_project(load_project(tmp_path, env={}), cache=False)

    assert ["E014"] == [each.code.value for each in compiled.diagnostics if each.model == "kept"]
