"""The rules of the house that no linter holds: sizes, names, layers, what an import costs."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.sources import MODULES, PACKAGE, ROOT, load_source

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

LINES = 400
PUBLIC_METHODS = 10
MAY_HAVE_MORE = {
    "rocky/api/analysis.py:Analysis": "as the last",
    "rocky/api/records.py:Records": "as the next",
    "rocky/api/workspace.py:Workspace": "one for each operation; what they do is in the operations",
    "rocky/frames/session.py:PlanClient": "what PySpark calls of its client is PySpark's to say",
}
SAYS_NOTHING = {
    "utils", "util", "helpers", "helper", "common", "core", "base", "misc", "shared",
    "manager", "managers", "handler", "handlers", "definition", "definitions",
}  # fmt: skip


def name_of(module: Path) -> str:
    return module.relative_to(PACKAGE.parent).as_posix()


def printed_by(code: str) -> list[str]:
    """The words a fresh interpreter prints for some code."""
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=os.environ | {"PYTHONPATH": str(PACKAGE.parent)},
    )
    return done.stdout.split()


def test_no_module_is_longer_than_its_limit():
    long = {name_of(path): len(path.read_text().splitlines()) for path in MODULES}

    assert {} == {name: lines for name, lines in long.items() if lines > LINES}


def test_no_module_or_package_has_a_name_that_says_nothing():
    names = {name_of(path): {path.stem, path.parent.name} for path in MODULES}

    assert [] == [name for name, parts in names.items() if parts & SAYS_NOTHING]


def test_no_class_has_more_public_methods_than_its_limit():
    large = [
        f"{name_of(module)}:{name}"
        for module in MODULES
        for name, methods in load_source(module).methods.items()
        if methods > PUBLIC_METHODS
    ]

    assert list(MAY_HAVE_MORE) == large


def test_every_package_says_what_it_is():
    packages = [path for path in MODULES if path.name == "__init__.py"]

    assert [] == [name_of(path) for path in packages if not load_source(path).docstring]


def test_every_folder_with_modules_is_a_package():
    folders = {path.parent for path in MODULES}

    assert [] == [name_of(folder) for folder in folders if not (folder / "__init__.py").exists()]


def test_the_layers_in_architecture_md_are_those_of_the_import_contract():
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (contract,) = [contract for contract in contracts if contract.get("containers") == ["rocky"]]
    page = (ROOT / "ARCHITECTURE.md").read_text()
    (block,) = re.findall(r"```layers\n(.*?)```", page, re.DOTALL)

    assert contract["layers"] == [re.split(r"\s{2,}", line)[0] for line in block.splitlines()]


def test_the_owners_of_effects_in_architecture_md_are_those_of_the_code():
    users: dict[str, set[str]] = {}
    for module in MODULES:
        package = module.relative_to(PACKAGE).parts[0]
        source = load_source(module)
        for name in source.libraries | source.attributes:
            users.setdefault(name, set()).add(package)
    page = (ROOT / "ARCHITECTURE.md").read_text()
    (block,) = re.findall(r"```effects\n(.*?)```", page, re.DOTALL)
    rows = [re.split(r"\s{2,}", line) for line in block.splitlines()]

    claimed = {
        name: set(owners.split(", ")) for names, owners in rows for name in names.split(", ")
    }
    assert claimed == {name: users[name] for name in claimed}


def test_what_compiles_asks_no_clock():
    contracts = PYPROJECT["tool"]["importlinter"]["contracts"]
    (pure,) = [each for each in contracts if each["name"].startswith("Nothing that compiles")]
    packages = {name.removeprefix("rocky.") for name in pure["source_modules"]}
    clocks = {"datetime.now", "datetime.today", "date.today", "datetime.utcnow"}

    compiling = [each for each in MODULES if each.relative_to(PACKAGE).parts[0] in packages]
    sources = {name_of(module): load_source(module) for module in compiling}
    assert [] == [
        name
        for name, source in sources.items()
        if clocks & source.attributes or "time" in source.libraries
    ]


def test_the_contracts_about_outside_libraries_name_every_package():
    packages = {f"rocky.{path.stem}" for path in PACKAGE.iterdir() if path.name[0] not in "_."}
    packages -= {"rocky.py"}
    by_name = {
        contract["name"]: set(contract.get("source_modules", ()))
        for contract in PYPROJECT["tool"]["importlinter"]["contracts"]
    }

    compile_side = by_name["Nothing that compiles can reach Spark or SQLite"]
    effects = by_name["Only rocky.spark and rocky.frames import pyspark"] | {
        "rocky.spark",
        "rocky.frames",
    }
    assert packages == compile_side | effects
    assert effects == by_name["Only rocky.ledger imports SQLite"] | {"rocky.ledger"}
    parser_free = by_name["Only syntax and binder know the parser library"]
    inside = {
        f"rocky.language.{each}"
        for each in "datatypes declared_functions dsl functions ir names placeholders quotes replacements tables".split()
    }
    assert packages - {"rocky.language"} | inside == parser_free


def libraries(requirements: list[str]) -> set[str]:
    """What is imported of requirements; one library is called otherwise than its package."""
    names = {re.split(r"[\[<>=]", requirement)[0] for requirement in requirements}
    return {"yaml" if name == "pyyaml" else name for name in names}


def test_the_declared_dependencies_are_the_imported_ones():
    imported = set().union(*(load_source(module).libraries for module in MODULES))
    # pytest is there when it loads the plugin, and py4j comes with PySpark.
    given = {"rocky", "py4j", "pytest", "__future__"}
    third_party = imported - set(sys.stdlib_module_names) - given
    declared = libraries(PYPROJECT["project"]["dependencies"])
    extras = PYPROJECT["project"]["optional-dependencies"]
    optional = {name for extra in extras if extra != "dev" for name in libraries(extras[extra])}

    assert declared == third_party - (optional - declared)


@pytest.mark.parametrize(
    ("module", "kept_out"),
    [
        ("rocky", ("pyspark", "sqlglot", "rich", "click", "msgpack")),
        ("rocky.cli.app", ("pyspark", "sqlglot", "rich", "msgpack", "rocky.compiler")),
        ("rocky.compiler", ("pyspark", "py4j", "rich", "sqlite3", "sqlglot.optimizer")),
        ("rocky.store.iceberg", ("pyspark", "pyiceberg")),
        pytest.param(
            "rocky.run.project_run",
            ("pyspark", "py4j", "pandas", "duckdb"),
            marks=pytest.mark.slow,
        ),
    ],
)
def test_an_import_does_not_drag_in_what_only_others_need(module, kept_out):
    code = f"import sys, {module}; print('\\n'.join(sys.modules))"
    loaded = set(printed_by(code))

    assert set() == loaded & set(kept_out)


@pytest.mark.slow
def test_the_public_names_are_sorted_and_all_there():
    code = "import rocky; print(*rocky.__all__); [getattr(rocky, name) for name in rocky.__all__]"
    names = printed_by(code)

    assert sorted(names) == names
    assert {"check_sql", "compile_project", "load_project"} <= set(names)
