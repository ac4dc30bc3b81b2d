"""The pytest plugin `rocky_frames`: a fixture `tables` whose frames are checked without Spark.

    def test_enrich(tables):
        assert tables.check(enrich(tables.orders)).schema == "order_id BIGINT NOT NULL, ..."

The schemas are those of the TOML file that `rocky_frames` in pytest's settings names, else those
of the Rocky project in pytest's root folder. pytest loads this module in every run, so all that it
needs is imported when a test asks for it.
"""

# ruff: noqa: PLC0415 - pytest loads this in every run, and few tests ask for the fixture

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the setting."""
    parser.addini(
        "rocky_frames",
        "a TOML file with the schemas of tables for the fixture `tables`; default: the tables of"
        " the Rocky project in the root folder",
    )


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """A line for each finding, where a test compares some: `found.errors == ()`."""
    said = [each for side in (left, right) if isinstance(side, tuple | list) for each in side]
    if op != "==" or not said or not all(_is_finding(each) for each in said):
        return None
    lines = [f"{_shown(left)} == {_shown(right)}"]
    for each in said:
        lines += [str(each), *([f"  help: {each.help}"] if each.help else [])]
    return lines


def _shown(side: object) -> str:
    if not isinstance(side, tuple | list) or not side:
        return repr(side)
    return f"{len(side)} finding" if len(side) == 1 else f"{len(side)} findings"


def _is_finding(value: object) -> bool:
    # By its name: whoever has a finding has loaded its module, others need not.
    kind = type(value)
    return (kind.__module__, kind.__name__) == ("rocky.diagnostics.diagnostic", "Diagnostic")


@pytest.fixture(scope="session")
def rocky_schemas(pytestconfig: pytest.Config) -> Any:
    """The columns of every table, by name; override it to declare them in Python."""
    named = pytestconfig.getini("rocky_frames")
    root = Path(pytestconfig.rootpath)
    if named:
        from rocky.frames.table_schemas import read_schemas

        return read_schemas(root / named)
    if not (root / "rocky.toml").exists():
        pytest.fail(
            "`tables` has no schemas: name a file with `rocky_frames` in pytest's settings",
            pytrace=False,
        )
    from rocky.operations.check.check_python import project_tables
    from rocky.operations.workspace import Workspace

    return project_tables(Workspace(root / "rocky.toml", None))


@pytest.fixture
def tables(rocky_schemas: Any) -> Iterator[Any]:
    """The frames of the declared tables: `tables.orders`, `tables.table("raw.orders")`."""
    from rocky.frames.frame_check import Frames

    with Frames(rocky_schemas) as frames:
        yield frames
