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
