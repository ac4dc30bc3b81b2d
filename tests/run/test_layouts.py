from pathlib import Path

import pytest

from rocky.language.datatypes.text import parse_type
from rocky.language.datatypes.types import BIGINT, StructField
from rocky.project import ModelFile
from rocky.project.configuration.model import Store
from rocky.run.materialize.build import (
    CANONICAL_UP_TO_BYTES,
    ONE_TASK_BYTES,
    arrive_by_key,
    choose_layout,
)
from rocky.spark.interface import TARGET_FILE_BYTES, Layout
from tests.project.projects import load

AUTO = Store()
COLUMNS = (StructField("Id", BIGINT, True), StructField("day", BIGINT, True))


QUERY = "SELECT 1 AS Id, 2 AS day"


def model(root: Path, settings: str = "", sql: str = QUERY) -> ModelFile:
    files: dict[str, str | bytes] = {"models/m.sql": sql}
    if settings:
        files["models/m.toml"] = settings
    project = load(root, files)
    assert () == project.diagnostics
    return project.models["m"]


def layout(model: ModelFile, *sizes: int | None, store: Store = AUTO) -> Layout:
    return choose_layout(model, COLUMNS, store, sizes)


def test_small_inputs_are_written_canonically_and_large_ones_are_not(tmp_path):
    own = model(tmp_path)

    assert layout(own, CANONICAL_UP_TO_BYTES - 1, 1).canonical
    assert not layout(own, CANONICAL_UP_TO_BYTES, 1).canonical


def test_little_data_is_sorted_by_the_task_that_makes_it(tmp_path):
    own = model(tmp_path)

    assert layout(own, ONE_TASK_BYTES).in_one_task
    assert not layout(own, ONE_TASK_BYTES, 1).in_one_task
    assert not layout(own, 1, None, store=Store(True)).in_one_task
    assert not layout(own, 1, store=Store(False)).in_one_task


@pytest.mark.parametrize(
    ("settings", "sql"),
    [
        ('[strategy]\ntype = "merge"\nunique_key = ["Id"]\n', QUERY),
        ('[strategy]\ntype = "incremental"\ntimestamp_column = "day"\n', QUERY),
        ("", "SELECT id AS Id, 2 AS day FROM range(10)"),
        ("", "SELECT Slow_One(1) AS Id, 2 AS day"),
    ],
    ids=["merge", "incremental", "range", "function"],
)
def test_what_may_take_longer_than_its_inputs_say_is_not_left_to_one_task(tmp_path, settings, sql):
    own = model(tmp_path, settings, sql)

    assert not choose_layout(own, COLUMNS, AUTO, [1], {"slow_one": None}).in_one_task


def test_inputs_of_unknown_size_are_not_written_canonically_unless_asked(tmp_path):
    own = model(tmp_path)

    assert not layout(own, 1, None).canonical
    assert layout(own, 1, None, store=Store(True)).canonical


def test_a_models_own_setting_wins_over_the_projects(tmp_path):
    own = model(tmp_path, "[store]\ncanonical = false\n")

    assert not layout(own, 1, store=Store(True)).canonical


def test_pieces_come_from_the_size_of_the_inputs(tmp_path):
    own = model(tmp_path)

    assert 1 == layout(own).pieces
    assert 1 == layout(own, TARGET_FILE_BYTES).pieces
    assert 3 == layout(own, TARGET_FILE_BYTES, TARGET_FILE_BYTES + 1).pieces


@pytest.mark.parametrize(
    "settings",
    [
        '[strategy]\ntype = "delete_insert"\npartition_by = ["ID"]\n',
        '[strategy]\ntype = "content_addressed"\npartition_columns = ["id"]\n',
        '[format_options]\npartition_by = ["id"]\n',
    ],
)
def test_partition_columns_are_spelt_as_the_output_spells_them(tmp_path, settings):
    assert ("Id",) == layout(model(tmp_path, settings), 1).partition_columns


def test_a_table_merged_by_key_has_small_files_of_neighbouring_keys(tmp_path):
    own = model(tmp_path, '[strategy]\ntype = "merge"\nunique_key = ["ID"]\n')

    assert ("Id",) == layout(own, 1).cluster_by
    assert layout(own, 1).max_rows_per_file < Layout().max_rows_per_file


def test_columns_to_cluster_by_win_over_the_key(tmp_path):
    settings = (
        '[strategy]\ntype = "merge"\nunique_key = ["id"]\n[format_options]\ncluster_by = ["day"]\n'
    )

    assert ("day",) == layout(model(tmp_path, settings), 1).cluster_by


ROW_WISE = "SELECT Id, upper(day) AS day FROM raw.t WHERE Id > 1"
FILES = [(f"{number}", TARGET_FILE_BYTES // 2) for number in range(6)]


def read_alone(own: ModelFile, size: int, functions: tuple[str, ...] = ()) -> Layout:
    return choose_layout(own, COLUMNS, AUTO, [size], functions, lambda: FILES)


def source_model(root: Path, sql: str, settings: str = "") -> ModelFile:
    files: dict[str, str | bytes] = {
        "models/m.sql": sql,
        "sources/raw.toml": '[[source]]\nname = "raw.t"\npath = "t"\nformat = "parquet"\n'
        'columns = [{ name = "Id", type = "bigint" }, { name = "day", type = "string" }]\n',
    }
    if settings:
        files["models/m.toml"] = settings
    return load(root, files).models["m"]


def test_rows_of_a_row_wise_query_stay_in_the_task_that_reads_them(tmp_path):
    own = source_model(tmp_path, ROW_WISE)
    few = FILES[:1]
    one = choose_layout(own, COLUMNS, AUTO, [few[0][1]], (), lambda: few)
    several = read_alone(own, 3 * TARGET_FILE_BYTES)

    assert (1, True, False) == (one.pieces, one.in_one_task, one.by_files)
    assert (6, False, True) == (several.pieces, several.in_one_task, several.by_files)


def test_rows_of_any_other_query_are_spread_by_their_hash(tmp_path):
    own = source_model(tmp_path, ROW_WISE)
    found = choose_layout(own, COLUMNS, AUTO, [3 * TARGET_FILE_BYTES], (), tuple)

    assert (3, True, False) == (found.pieces, found.spread, found.by_files)


def test_pieces_are_those_of_the_driving_table_and_else_as_many_as_all_inputs_ask_for(tmp_path):
    own = source_model(tmp_path, ROW_WISE)
    sizes = [TARGET_FILE_BYTES, TARGET_FILE_BYTES + 1]
    small = [(f"{number}", 1 << 20) for number in range(20)]
    found = [choose_layout(own, COLUMNS, AUTO, sizes, (), lambda f=f: f) for f in (FILES, small)]

    assert [(6, True), (3, True)] == [(each.pieces, each.by_files) for each in found]


def test_rows_that_a_query_hands_over_are_not_spread_again(tmp_path):
    own = model(tmp_path)
    spread, size = layout(own, 3 * TARGET_FILE_BYTES), 3 * TARGET_FILE_BYTES
    found = arrive_by_key(spread, own, COLUMNS, [size], ("day", "gone", "id", "day"))

    assert (6, True, False) == (found.pieces, found.by_key, found.spread)
    # As the windows leave them, so that they are hardly sorted again.
    assert ("day", "Id") == found.cluster_by
    assert spread == arrive_by_key(spread, own, COLUMNS, [size, None], ())


def test_what_the_result_calls_as_the_query_its_order_and_cannot_be_sorted_is_no_order(tmp_path):
    own, size = model(tmp_path), 3 * TARGET_FILE_BYTES
    columns = (StructField("day", parse_type("map<int,int>"), True), *COLUMNS[:1])

    found = arrive_by_key(layout(own, size), own, columns, [size], ("day", "id"))
    assert ("Id",) == found.cluster_by


@pytest.mark.parametrize(
    "settings",
    [
        '[format_options]\npartition_by = ["day"]\n',
        '[strategy]\ntype = "merge"\nunique_key = ["id"]\n',
    ],
)
def test_but_for_partitions_and_tables_that_keep_rows_they_are(tmp_path, settings):
    own = model(tmp_path, settings)
    spread = layout(own, 3 * TARGET_FILE_BYTES)

    assert spread == arrive_by_key(spread, own, COLUMNS, [3 * TARGET_FILE_BYTES], ("day",))


def test_a_query_that_calls_a_function_of_the_project_is_spread(tmp_path):
    own = source_model(tmp_path, ROW_WISE)

    assert read_alone(own, 3 * TARGET_FILE_BYTES, ("upper",)).spread


def test_a_partitioned_table_is_spread_by_its_partitions(tmp_path):
    own = source_model(tmp_path, ROW_WISE, '[format_options]\npartition_by = ["day"]\n')

    assert read_alone(own, 3 * TARGET_FILE_BYTES).spread


def test_a_query_over_files_that_do_not_fit_pieces_is_spread(tmp_path):
    own = source_model(tmp_path, ROW_WISE)
    large = [("one", 3 * TARGET_FILE_BYTES)]
    found = choose_layout(own, COLUMNS, AUTO, [3 * TARGET_FILE_BYTES], (), lambda: large)

    assert found.spread


def test_rows_of_other_queries_are_handed_over_into_one_piece_too(tmp_path):
    own = source_model(tmp_path, ROW_WISE)
    found = choose_layout(own, COLUMNS, AUTO, [TARGET_FILE_BYTES], (), tuple)

    assert (1, False, False) == (found.pieces, found.in_one_task, found.by_files)
