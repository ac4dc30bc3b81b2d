"""Python models are typed by the plans they build, and code runs only for whom it may."""

import importlib.util
import os
import py_compile
import subprocess
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.compiler.fingerprints import fingerprints_of
from rocky.errors import InvalidRequest, RockyError
from rocky.ledger import open_ledger
from rocky.operations.branch.change import open_change
from rocky.operations.branch.lifecycle import CreateRequest, create
from rocky.operations.changes.revisions import open_sides
from rocky.operations.check.ci import CiRequest, ci
from rocky.operations.check.emit_sql import EmitSqlRequest, emit_sql
from rocky.operations.python_plans import compile_analysed
from rocky.operations.workspace import Workspace, compile_workspace, load_workspace
from rocky.project.user_cache import cache_place
from tests.operations.projects import open_project
from tests.project.git.repos import make_repo
from tests.project.projects import finding

ORDERS = """
[[source]]
name = "raw.orders"
columns = [
  { name = "id", type = "bigint", nullable = false },
  { name = "amount", type = "decimal(12,2)" },
  { name = "status", type = "string" },
]
"""
CONFIG = '[pipeline.shop]\nmodels = "models/**"\n'
HEAD = "from pyspark.sql import functions as F\n\n\ndef model(orders):\n"
INPUTS = 'inputs = { orders = "raw.orders" }\n'
DECLARED = INPUTS + 'output = [ { name = "id", type = "bigint" } ]\n'
PAID = HEAD + "    return orders.select('id', (F.col('amount') * 2).alias('double'))\n"
MODELS = {
    "paid": (PAID, INPUTS),
    "misspelt": (HEAD + "    return orders.select('id', F.upper('stauts'))\n", INPUTS),
    "looks": (HEAD + "    n = orders.count()\n    return orders.limit(n)\n", INPUTS),
    "looks_declared": (HEAD + "    n = orders.count()\n    return orders.limit(n)\n", DECLARED),
    "wrong_type": (HEAD + "    return orders.select(F.col('id').cast('string'))\n", DECLARED),
    "more": (HEAD + "    return orders.select('id', 'status')\n", DECLARED),
    "raises": (HEAD + "    return orders.select(undefined)\n", DECLARED),
    "asks": (HEAD + "    import os\n\n    return orders.select(os.environ['X'])\n", DECLARED),
    "coded": (
        HEAD
        + "    f = F.udf(lambda x: x + 1, 'bigint')\n    return orders.select(f('id').alias('n'))\n",
        INPUTS,
    ),
    "clocked": (
        "import datetime\n\nfrom pyspark.sql import functions as F\n\n\ndef model(orders):\n"
        "    return orders.select('id', F.lit(datetime.date.today()).alias('day'))\n",
        INPUTS,
    ),
    "reads": (
        HEAD + "    open('ROOT/rocky.toml').read()\n    return orders.select('id')\n",
        INPUTS,
    ),
    "spies": (
        HEAD
        + "    import os\n\n    raise ValueError(os.environ.get('ROCKY_TEST_SECRET', 'none'))\n",
        INPUTS,
    ),
    "answers": (
        HEAD
        + "    import os\n\n    for each in range(3, 30):\n        try:\n"
        + "            os.write(each, b'\"paid\"\\tAAAA\\n')\n        except OSError:\n            pass\n"
        + "    return orders.select('id')\n",
        INPUTS,
    ),
    "looks_around": (
        HEAD
        + "    import os\n\n    held = [os.readlink(f'/proc/self/fd/{each}') for each in range(9)"
        + " if os.path.exists(f'/proc/self/fd/{each}')]\n"
        + "    cards = open('/proc/net/dev').read().count(':')\n"
        + "    pipes = sum(each.startswith('pipe') for each in held)\n"
        + "    raise ValueError(f'{pipes} pipes, {cards} cards')\n",
        INPUTS,
    ),
    "loads": (HEAD + "    import ctypes\n\n    ctypes.CDLL(None)\n", INPUTS),
    "catches": (
        HEAD
        + "    try:\n        orders.count()\n    except Exception:\n        pass\n    return orders\n",
        INPUTS,
    ),
    "waits": (HEAD + "    while True: pass\n", INPUTS),
}


def files_of(models: dict[str, tuple[str, str]]) -> dict[str, str]:
    files = {"sources/raw.toml": ORDERS, "rocky.toml": CONFIG}
    for name, (text, settings) in models.items():
        files |= {f"models/{name}.py": text, f"models/{name}.toml": settings}
    return files


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory):
    root = tmp_path_factory.mktemp("plans")
    files = files_of(MODELS)
    files["models/reader.sql"] = "SELECT id, double FROM chained\n"
    files["models/chained.py"] = "def model(middle):\n    return middle.filter('double > 1')\n"
    files["models/middle.sql"] = "SELECT id, double FROM paid\n"
    files = {path: text.replace("ROOT", str(root)) for path, text in files.items()}
    os.environ["ROCKY_TEST_SECRET"] = "a secret"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("rocky.operations.python_plans.SECONDS", 3)
        try:
            return compile_workspace(open_project(root, files), asker="person")
        finally:
            del os.environ["ROCKY_TEST_SECRET"]


def said(compilation, name: str) -> list[str]:
    project = compilation.project
    return [finding(project, each) for each in compilation.diagnostics if each.model == name]


def columns(compilation, name: str) -> list[tuple[str, str, bool]]:
    return [(each.name, each.type.text, each.nullable) for each in compilation.models[name].columns]


@pytest.mark.slow
def test_a_model_without_a_declared_output_has_the_columns_of_its_plan(compiled) -> None:
    assert [] == said(compiled, "paid")
    assert [("id", "bigint", False), ("double", "decimal(14,2)", True)] == columns(compiled, "paid")


@pytest.mark.slow
def test_models_of_python_and_sql_over_each_other_are_followed_to_their_sources(compiled) -> None:
    lineage = Lineage(dict(compiled.models), {"raw.orders": ["id", "amount", "status"]})
    trace = lineage.trace(ColumnRef("reader", "double"), "upstream")

    assert [("id", "bigint", False), ("double", "decimal(14,2)", True)] == columns(
        compiled, "chained"
    )
    assert ["amount"] == [each.column for each in trace.reached if each.table == "raw.orders"]


@pytest.mark.slow
def test_a_misspelt_column_is_found_at_its_text(compiled) -> None:
    assert "E003 models/misspelt.py:5:40 \"'stauts'\" no column `stauts` in scope" in said(
        compiled, "misspelt"
    )


@pytest.mark.slow
def test_code_that_looks_at_rows_needs_a_declared_output(compiled) -> None:
    (without,) = said(compiled, "looks")
    (declared,) = said(compiled, "looks_declared")

    assert without.startswith("E017 models/looks.py:5:16")
    assert "declares no `output`" in without
    assert declared.startswith("W025 models/looks_declared.py:5:16")
    assert [("id", "bigint", True)] == columns(compiled, "looks_declared")


@pytest.mark.slow
def test_a_declaration_that_is_not_what_the_code_gives_is_an_error_at_its_line(compiled) -> None:
    assert [
        "E017 models/wrong_type.toml:2:34 '\"bigint\"' "
        "`id` is declared `bigint`, and the code gives `string`"
    ] == said(compiled, "wrong_type")
    assert [
        "E017 models/more.toml:2:1 'output' the code gives a column `status`, which is not declared"
    ] == said(compiled, "more")


@pytest.mark.slow
def test_a_fault_of_plain_code_is_an_error_and_one_of_other_code_a_warning(compiled) -> None:
    (raised,) = said(compiled, "raises")
    (asked,) = said(compiled, "asks")

    assert raised.startswith("E047 models/raises.py:5:5")
    assert asked.startswith("W025 models/asks.py:7:5")


@pytest.mark.slow
def test_no_secret_reaches_the_code_and_its_time_is_limited(compiled) -> None:
    (spied,) = said(compiled, "spies")
    (waited,) = said(compiled, "waits")

    assert "ValueError: none" in spied
    assert "took longer than 3 s" in waited or "ended its process" in waited


@pytest.mark.slow
def test_code_can_answer_for_no_other_model_and_load_no_library(compiled) -> None:
    (answered,) = said(compiled, "answers")
    (loaded,) = said(compiled, "loads")

    assert "answered with something else" in answered
    assert "`ctypes.dlopen` is refused" in loaded
    assert [] == said(compiled, "paid")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="namespaces and /proc are Linux's")
def test_code_holds_its_own_answer_alone_and_sees_no_network_where_the_system_allows_that(
    compiled,
) -> None:
    (said_of_it,) = said(compiled, "looks_around")
    allowed = subprocess.run(["unshare", "-Un", "true"], check=False, capture_output=True)

    assert "1 pipes" in said_of_it
    assert "1 cards" in said_of_it or allowed.returncode != 0


@pytest.mark.slow
def test_only_a_plan_of_plain_code_counts_as_deterministic(compiled) -> None:
    found = {name: compiled.models[name].determinism for name in ("paid", "clocked", "reads")}

    assert {"paid": (), "clocked": ("volatile: python",), "reads": ("volatile: python",)} == found


@pytest.mark.slow
def test_the_sql_of_a_plan_is_printed_where_there_is_one(tmp_path: Path) -> None:
    chosen = {name: MODELS[name] for name in ("paid", "coded")}
    workspace = open_project(tmp_path, files_of(chosen))

    printed = emit_sql(workspace, EmitSqlRequest("paid")).models[0].sql
    everything = emit_sql(workspace, EmitSqlRequest())

    assert "SELECT id, amount * 2 AS double FROM raw.orders\n" == printed
    assert ("coded",) == everything.left_out
    with pytest.raises(RockyError, match=r"no SQL gives its rows: .* is code"):
        emit_sql(workspace, EmitSqlRequest("coded"))


@pytest.mark.slow
def test_a_plan_is_built_from_the_modules_that_were_loaded_and_not_from_their_files(
    tmp_path: Path,
) -> None:
    helped = "from _lib import chosen\n\n\ndef model(orders):\n    return chosen(orders)\n"
    library = "def chosen(orders):\n    return orders.select({})\n"
    files = {**files_of({"paid": (helped, INPUTS)}), "models/_lib.py": library.format("'id'")}
    project = load_workspace(open_project(tmp_path, files))
    (tmp_path / "models/_lib.py").write_text(library.format("'id', 'status'"))

    built = compile_analysed(project, "person", cache=False)
    (tmp_path / "models/_lib.py").unlink()
    again = compile_analysed(project, "person", cache=False)

    assert [] == said(built, "paid") == said(again, "paid")
    assert columns(built, "paid") == columns(again, "paid")
    assert 1 == len(columns(built, "paid"))


# ------------------------------------------------------------------ who runs it


@pytest.mark.slow
def test_what_only_reads_runs_no_code_and_uses_plans_that_were_built(tmp_path: Path) -> None:
    workspace = open_project(tmp_path, files_of({"paid": (PAID, INPUTS)}))

    before = compile_workspace(workspace)
    built = compile_workspace(workspace, asker="person")
    after = compile_workspace(workspace)
    judged = compile_workspace(workspace, cache=False)

    assert [
        "W025 models/paid.py what `paid` gives is not known here: its code was not run"
    ] == said(before, "paid")
    assert [] == said(built, "paid") == said(after, "paid")
    assert 2 == len(columns(after, "paid"))
    assert ["W025"] == [each[:4] for each in said(judged, "paid")]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("setting", "found"),
    [
        ("trusted", {"person": [], "ci": ["W025"], "asked": []}),
        ("never", {"person": ["E017"], "ci": ["E017"], "asked": ["E017"]}),
    ],
)
def test_the_setting_and_who_asks_decide_for_whom_code_is_run(
    tmp_path: Path, setting: str, found: dict[str, list[str]]
) -> None:
    files = files_of({"paid": (PAID, INPUTS)})
    files["rocky.toml"] += f'[python]\nanalyse = "{setting}"\n'
    workspace = open_project(tmp_path, files)
    asked = replace(workspace, environment={"ROCKY_ANALYSE": "always"})

    compiled = compile_workspace(workspace, cache=False, asker="person")
    judged = {
        "ci": ci(workspace, CiRequest(cache=False)),
        "asked": ci(asked, CiRequest(cache=False)),
    }

    assert found == {
        "person": [each[:4] for each in said(compiled, "paid")],
        **{
            name: [each.code.value for each in report.found if each.model == "paid"]
            for name, report in judged.items()
        },
    }


def test_no_file_of_a_change_has_its_code_run_where_it_is_judged(tmp_path: Path) -> None:
    wrote = HEAD + f"    raise ValueError(open('{tmp_path}/secret').read())\n"
    files = files_of({"paid": (wrote, INPUTS)})
    files |= {"secret": "seen", ".env": "ROCKY_ANALYSE=always\n"}
    files["rocky.toml"] += '[python]\nanalyse = "always"\n'

    report = ci(open_project(tmp_path, files), CiRequest(cache=False))

    said_of = [finding(report.project, each) for each in report.found]
    assert ["E018 rocky.toml:4:11 '\"always\"' `always` is not one of `trusted`, `never`"] == [
        each for each in said_of if "rocky.toml" in each
    ]
    assert [] == [each for each in said_of if "seen" in each]


@pytest.mark.slow
def test_a_change_is_compared_by_the_plans_of_its_code_only_where_that_is_asked_for(
    tmp_path: Path,
) -> None:
    root = make_repo(tmp_path / "repo", files_of({"paid": (PAID, INPUTS)})).root
    workspace = Workspace(root)
    (root / "models/paid.py").write_text(PAID.replace("'id', ", ""))
    counts = []
    for environment in ({}, {"ROCKY_ANALYSE": "always"}):
        looking = replace(workspace, environment=environment)
        with open_sides(looking, "HEAD", exact=True) as sides:
            counts.append([len(columns(each, "paid")) for each in (sides.base, sides.head)])

    assert [[0, 0], [2, 1]] == counts


@pytest.mark.slow
def test_a_branch_is_judged_without_its_code_outside_git_too(tmp_path: Path) -> None:
    workspace = open_project(tmp_path, files_of({"paid": (PAID, INPUTS)}))
    with open_ledger(tmp_path / ".rocky-state.db"):
        pass
    create(workspace, CreateRequest("b1"))
    counts = []
    for environment in ({}, {"ROCKY_ANALYSE": "always"}):
        looking = replace(workspace, environment=environment)
        with open_change(looking, "b1", datetime(2026, 1, 2, tzinfo=UTC)) as found:
            counts.append(len(columns(found.compilation, "paid")))

    assert [0, 2] == counts


def test_another_word_than_the_one_that_asks_is_refused(tmp_path: Path) -> None:
    workspace = open_project(tmp_path, {}, environment={"ROCKY_ANALYSE": "yes"})

    with pytest.raises(InvalidRequest, match="`ROCKY_ANALYSE` is `yes`: it is `always`"):
        ci(workspace, CiRequest())


@pytest.mark.slow
def test_a_misspelt_attribute_is_told_at_its_place_with_the_column_that_there_is(
    tmp_path: Path,
) -> None:
    text = PAID.replace("orders.select(", "orders.filter(orders.amuont > 1).select(", 1)
    assert text != PAID
    compilation = compile_workspace(
        open_project(tmp_path, files_of({"paid": (text, INPUTS)})), asker="person"
    )

    (found,) = said(compilation, "paid")
    assert "'amuont'" in found
    assert found.endswith("no column `amuont`; did you mean `amount`?")


# ------------------------------------------------------------------ fingerprints


def skip_hash(root: Path, models: dict[str, tuple[str, str]], more: dict[str, str]) -> str:
    workspace = open_project(root, {**files_of(models), **more})
    compilation = compile_workspace(workspace, asker="person")
    assert not compilation.has_errors, said(compilation, "paid")
    return fingerprints_of(compilation, ["paid"])["paid"].skip_hash


HELPED = (
    "from pyspark.sql import functions as F\n\nfrom _lib import twice\n\n\n"
    "def model(orders):\n    wanted = twice('amount')\n"
    "    return orders.select('id', wanted.alias('double'))\n"
)
LIB = "from pyspark.sql import functions as F\n\n\ndef twice(name):\n    return F.col(name) * NUMBER\n"


@pytest.mark.slow
def test_code_that_builds_the_same_plan_has_the_same_fingerprint(tmp_path: Path) -> None:
    plain = skip_hash(tmp_path, {"paid": (PAID, INPUTS)}, {})
    library = {"models/_lib.py": LIB.replace("NUMBER", "2")}
    moved = skip_hash(tmp_path, {"paid": (HELPED, INPUTS)}, library)
    other = skip_hash(
        tmp_path, {"paid": (HELPED, INPUTS)}, {"models/_lib.py": LIB.replace("NUMBER", "3")}
    )

    assert plain == moved
    assert plain != other


CODED = (
    "from pyspark.sql import functions as F\n\nfrom _lib import grade\n\n\ndef model(orders):\n"
    "    graded = F.udf(grade, 'bigint')\n    return orders.select('id', graded('amount').alias('g'))\n"
)


@pytest.mark.slow
def test_the_bodies_and_closures_of_functions_count_and_their_names_inside_do_not(
    tmp_path: Path,
) -> None:
    def hashed(library: str) -> str:
        return skip_hash(tmp_path, {"paid": (CODED, INPUTS)}, {"models/_lib.py": library})

    first = hashed("LIMIT = 3\n\n\ndef grade(value):\n    found = LIMIT\n    return found\n")
    renamed = hashed(
        "# moved\nLIMIT = 3\n\n\ndef grade(value):\n    kept = LIMIT\n    return kept\n"
    )
    body = hashed("LIMIT = 3\n\n\ndef grade(value):\n    found = LIMIT\n    return found + 1\n")
    constant = hashed("LIMIT = 4\n\n\ndef grade(value):\n    found = LIMIT\n    return found\n")

    assert first == renamed
    assert 3 == len({first, body, constant})


@pytest.mark.slow
def test_a_plan_that_somebody_else_wrote_is_not_read(tmp_path: Path) -> None:
    workspace = open_project(tmp_path, files_of({"paid": (PAID, INPUTS)}))
    compile_workspace(workspace, asker="person")
    folder = cache_place(tmp_path).folder
    assert folder is not None
    (folder / "compile.bin").unlink()
    plans = folder / "plans.bin"
    data = bytearray(plans.read_bytes())
    data[-20] ^= 1
    plans.write_bytes(bytes(data))

    found = compile_workspace(workspace)

    assert ["W025"] == [each[:4] for each in said(found, "paid")]


@pytest.mark.slow
def test_compiled_files_of_the_project_are_not_believed(tmp_path: Path) -> None:
    library = tmp_path / "models/_lib.py"
    files = files_of({"paid": (HELPED, INPUTS)})
    files["models/_lib.py"] = LIB.replace("NUMBER", "3").replace("twice", "other")
    open_project(tmp_path, files)
    compiled_file = importlib.util.cache_from_source(str(library))
    py_compile.compile(
        str(library), compiled_file, invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH
    )
    files["models/_lib.py"] = LIB.replace("NUMBER", "2")

    found = compile_workspace(open_project(tmp_path, files), asker="person")

    assert [] == said(found, "paid")


@pytest.mark.slow
def test_code_that_is_not_plain_is_typed_and_may_have_any_column_in_any_other(compiled) -> None:
    edges = compiled.models["clocked"].columns[0].edges

    assert [("id", "bigint", False), ("day", "date", False)] == columns(compiled, "clocked")
    assert {("id", "opaque"), ("amount", "opaque"), ("status", "opaque")} == {
        (each.column, each.kind) for each in edges
    }


@pytest.mark.slow
def test_code_that_catches_being_refused_rows_has_no_plan(compiled) -> None:
    (said_of_it,) = said(compiled, "catches")

    assert said_of_it.startswith("E017 models/catches.py:6:16")
