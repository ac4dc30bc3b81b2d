"""`examples/faults`: nineteen common mistakes, each found at its line, and nothing else."""

import re
from pathlib import Path

import pytest

from rocky.compiler.passes import compile_project
from rocky.project import load_project

ROOT = Path(__file__).parents[2] / "examples" / "faults"
FAULTS = sorted(path.stem for path in (ROOT / "models" / "faults").glob("*.sql"))


@pytest.fixture(scope="module")
def found():
    """The findings by model: [(code, line)]."""
    project = load_project(ROOT, env={})
    compilation = compile_project(project, cache=False)
    findings = {}
    for each in compilation.diagnostics:
        line = project.texts[each.path].position(each.span.start)[0]
        findings.setdefault(each.model, []).append((each.code.value, line))
    return findings


def expected(model):
    lines = (ROOT / "models" / "faults" / f"{model}.sql").read_text().splitlines()
    marks = [re.search(r"-- expect: (\w+)", line) for line in lines]
    return [(mark[1], number + 1) for number, mark in enumerate(marks, 1) if mark]


def test_there_are_nineteen_and_each_has_a_near_miss():
    near = sorted(path.stem for path in (ROOT / "models" / "near_misses").glob("*.sql"))

    assert 19 == len(FAULTS)
    assert near == sorted(f"legal_{name}" for name in FAULTS)


@pytest.mark.parametrize("model", FAULTS)
def test_the_fault_is_reported_once_at_its_line(found, model):
    assert expected(model) == found.get(model, [])


def test_nothing_else_is_reported(found):
    assert set() == set(found) - set(FAULTS)
