"""Python models are read without being run: parameters, declared columns, mistakes at their line."""

import pytest

from rocky.analysis.lineage import ColumnRef, Lineage
from rocky.compiler.fingerprints import fingerprints_of
from rocky.compiler.passes import compile_project
from rocky.project.python_models import UnusablePython, inputs_of, read_parameters
from tests.project.projects import finding, findings, helps, load

SOURCE = """
[[source]]
name = "raw.orders"
columns = [ { name = "id", type = "bigint", nullable = false }, { name = "amount", type = "double" } ]
"""
MODEL = "def model(orders):\n    return orders\n"
SIDECAR = """
inputs = { orders = "raw.orders" }
output = [ { name = "id", type = "bigint", nullable = false }, { name = "score", type = "double" } ]
"""
FILES = {
    "sources/raw.toml": SOURCE,
    "models/scored.py": MODEL,
    "models/scored.toml": SIDECAR,
    "models/report.sql": "SELECT id, score * 2 AS doubled FROM scored",
}


def compiled(root, files):
    return compile_project(load(root, files), cache=False)


def columns_of(compilation, key):
    return [(each.name, each.type.text, each.nullable) for each in compilation.models[key].columns]


def codes(compilation):
    return [(each.code.value, each.message) for each in compilation.diagnostics]


def test_the_parameters_are_read_from_the_text_with_their_places():
    text = "import nothing_installed\n\n\ndef model(é, *, b):\n    return é\n"

    assert [("é", "é"), ("b", "b")] == [
        (each.name, text[each.span.start : each.span.end]) for each in read_parameters(text)
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = 1\n", "the file defines no function `model`"),
        ("class A:\n    def model(a): ...\n", "the file defines no function `model`"),
        ("async def model(a): ...\n", "`model` must be a plain function"),
        ("def model(*tables): ...\n", "the parameter `tables` cannot be a table by its name"),
        ("def model(**tables): ...\n", "the parameter `tables` cannot be a table by its name"),
        ("def model(a, /): ...\n", "the parameter `a` cannot be a table by its name"),
        ("def model(a=1): ...\n", "a parameter of `model` has a default, but each is a table the model reads"),
        ("def model(a:\n", "not valid Python: '(' was never closed"),
    ],
)  # fmt: skip
def test_a_file_that_is_no_model_is_refused(text, message):
    with pytest.raises(UnusablePython) as refusal:
        read_parameters(text)

    assert message == str(refusal.value)


def test_the_code_is_never_run_while_compiling(tmp_path):
    code = f"open({str(tmp_path / 'ran')!r}, 'w')\n{MODEL}"
    compiled(tmp_path, {**FILES, "models/scored.py": code})

    assert not (tmp_path / "ran").exists()


def test_readers_see_the_declared_columns(tmp_path):
    compilation = compiled(tmp_path, FILES)

    assert [] == codes(compilation)
    assert [("id", "bigint", False), ("score", "double", True)] == columns_of(compilation, "scored")
    assert [("id", "bigint", False), ("doubled", "double", True)] == columns_of(
        compilation, "report"
    )
    assert ("scored", "report") == compilation.order
    assert ("raw.orders",) == compilation.upstream["scored"]


def test_any_input_column_may_be_in_any_output_column(tmp_path):
    compilation = compiled(tmp_path, FILES)
    lineage = Lineage(dict(compilation.models), {"raw.orders": ["id", "amount"]})
    trace = lineage.trace(ColumnRef("report", "doubled"), "upstream")

    assert {
        "raw.orders.id": "opaque",
        "raw.orders.amount": "opaque",
        "scored.score": "expression",
    } == {".".join(column): kind for column, kind in trace.reached.items()}


def test_a_python_model_may_not_repeat_unless_its_author_says_so(tmp_path):
    said = SIDECAR + "[skip]\ndeterministic = true\n"

    assert ("volatile: python",) == compiled(tmp_path / "a", FILES).models["scored"].determinism
    vouched = compiled(tmp_path / "b", {**FILES, "models/scored.toml": said})
    assert () == vouched.models["scored"].determinism


def test_the_fingerprints_follow_the_code_and_the_wiring(tmp_path):
    both = "def model(a, b):\n    return a\n"
    wired = SIDECAR.replace('{ orders = "raw.orders" }', '{ a = "%s", b = "%s" }')
    variants = {
        "first": {"models/scored.py": both, "models/scored.toml": wired % ("raw.orders", "m")},
        "comment": {"models/scored.py": both + "#\n", "models/scored.toml": wired % ("raw.orders", "m")},
        "swapped": {"models/scored.py": both, "models/scored.toml": wired % ("m", "raw.orders")},
    }  # fmt: skip
    found = {
        name: fingerprints_of(
            compiled(tmp_path / name, {**FILES, "models/m.sql": "SELECT 1 AS id", **files}),
            ["scored"],
        )["scored"]
        for name, files in variants.items()
    }

    assert 3 == len({each.recipe for each in found.values()})
    assert 3 == len({each.skip_hash for each in found.values()})


def test_a_parameter_that_names_no_table_is_unknown_at_its_place(tmp_path):
    files = {**FILES, "models/scored.py": "def model(orders, custmers):\n    return orders\n", "models/customers.sql": "SELECT 1 AS id"}  # fmt: skip
    compilation = compiled(tmp_path, files)
    (found,) = compilation.diagnostics

    assert ("E002", "no table `custmers`", "there is `customers`", "models/scored.py") == (
        found.code.value,
        found.message,
        found.help,
        found.path,
    )
    assert "custmers" == files["models/scored.py"][found.span.start : found.span.end]


@pytest.mark.parametrize(
    ("code", "sidecar", "expected"),
    [
        ("x = 1\n", SIDECAR, "E017 models/scored.py `models/scored.py`: the file defines no function `model`"),
        ("def model(o:\n", SIDECAR, "E017 models/scored.py:1:10 '(o:' `models/scored.py`: not valid Python: '(' was never closed"),
        (MODEL, 'inputs = { orders = "raw.orders" }\n', "E017 models/scored.py Python model `scored` declares no `output`"),
        (MODEL, SIDECAR.replace("double", "doubel"), "E017 models/scored.toml:3:90 'doubel' `doubel` is not a Spark type"),
        (MODEL, SIDECAR.replace("orders =", "ordres ="), "E017 models/scored.toml:2:12 'ordres' the function `model` has no parameter `ordres`"),
        (MODEL, SIDECAR + '[strategy]\ntype = "view"\n', "E017 models/scored.toml:5:8 '\"view\"' a Python model cannot be `view`"),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_once_where_it_is(tmp_path, code, sidecar, expected):
    files = {**FILES, "models/scored.py": code, "models/scored.toml": sidecar}
    project = load(tmp_path, files)

    (found,) = compile_project(project, cache=False).diagnostics

    assert expected in finding(project, found)


def test_readers_of_an_unusable_python_model_are_not_told_that_it_is_unknown(tmp_path):
    compilation = compiled(tmp_path, {**FILES, "models/scored.py": "x = 1\n"})

    assert ["scored"] == [each.model for each in compilation.diagnostics]


def test_a_sql_model_cannot_declare_inputs_or_output(tmp_path):
    project = load(tmp_path, {"models/m.sql": "SELECT 1 AS id", "models/m.toml": "output = [ { name = 'id', type = 'int' } ]\n"})  # fmt: skip

    assert [
        "E017 models/m.toml:1:1 'output' `output` is for Python models: what this query reads and gives is in its SQL"
    ] == findings(project)


def test_a_file_that_starts_with_an_underscore_is_no_model(tmp_path):
    project = load(tmp_path, {**FILES, "models/_shared.py": "x = 1\n", "models/__init__.py": ""})

    assert {"scored", "report"} == set(project.models)
    assert [] == findings(project)


def test_a_sql_and_a_python_model_of_one_name_clash(tmp_path):
    project = load(tmp_path, {**FILES, "models/scored.sql": "SELECT 1 AS id"})

    assert "another model is also called `scored`" in " ".join(findings(project))


def test_python_models_in_a_circle_are_a_cycle(tmp_path):
    files = {
        "models/a.py": "def model(b): ...\n",
        "models/a.toml": "output = [ { name = 'x', type = 'int' } ]\n",
        "models/b.sql": "SELECT x FROM a",
    }

    assert [("E015", "models form a cycle: `a` -> `b` -> `a`")] == codes(compiled(tmp_path, files))


def test_a_remembered_python_model_compiles_like_a_fresh_one(tmp_path):
    load(tmp_path, FILES)
    from rocky.project import load_project  # noqa: PLC0415 - the loader with its memory

    first = compile_project(load_project(tmp_path, env={}, remember=True))
    again = compile_project(load_project(tmp_path, env={}, remember=True))

    assert columns_of(first, "scored") == columns_of(again, "scored")
    assert [("orders", "raw.orders")] == [
        (each.parameter, each.table) for each in inputs_of(again.project.models["scored"])
    ]
    assert 0 == again.statistics.bound


def test_helps_say_what_to_write(tmp_path):
    project = load(tmp_path, {**FILES, "models/scored.py": "x = 1\n"})

    assert ["write `def model(orders): ...`; a file that is no model starts with `_`"] == helps(
        project
    )
