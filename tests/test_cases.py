import shutil
from pathlib import Path

import pytest

import rocky
from rocky.diagnostics.codes import REGISTRY, Code
from rocky.diagnostics.render import render_full
from tests.expectations import expected_findings, reported_findings

CASES = Path(__file__).parent / "cases"
SHOP = CASES / "shop"
FOLDERS = [
    folder
    for pattern in ("diagnostics/*/*", "projects/*")
    for folder in sorted(CASES.glob(pattern))
]


def name_of(folder: Path) -> str:
    return folder.relative_to(CASES).as_posix()


def compiled(folder: Path, root: Path) -> rocky.Compilation:
    """The case's files laid over the shop's sources and settings, compiled."""
    for layer in (SHOP, folder):
        shutil.copytree(layer, root, dirs_exist_ok=True)
    return rocky.compile_project(rocky.load_project(root, env={}), cache=False)


@pytest.mark.parametrize("folder", FOLDERS, ids=name_of)
def test_a_case_reports_what_its_marks_say_in_the_expected_words(folder, tmp_path, bless):
    compilation = compiled(folder, tmp_path)
    shown = render_full(compilation.diagnostics, compilation.project.texts)
    golden = folder / "expected.txt"
    if bless:
        golden.write_text(shown, encoding="utf-8")

    reported = reported_findings(compilation.diagnostics, compilation.project)
    assert expected_findings(tmp_path) == reported
    assert golden.read_text(encoding="utf-8") == shown


def test_every_code_has_a_case_that_reports_it_and_a_near_miss_that_is_quiet():
    shown = {
        folder.name: {case.name: (case / "expected.txt").read_text() for case in folder.iterdir()}
        for folder in (CASES / "diagnostics").iterdir()
    }
    lacking = []
    for row in REGISTRY:
        if row.code is Code.QUERY_NOT_UNDERSTOOD:
            continue  # A fault of Rocky's own: a query known to show it would be mended, not kept.
        if row.name.startswith("live-"):
            continue  # Only live sources show it, and no case has any: tests/pipelines/drift/test_declared.py.
        if row.code is Code.BUDGET_EXCEEDED:
            continue  # What a run takes is known from runs: tests/plans and tests/run show it.
        if row.code in (Code.VALUE_REFUSED, Code.CODE_RAISED):
            continue  # What a run meets, and no case is run: tests/spark/test_failure_places.py.
        if row.code is Code.PUBLISHED_TAG:
            continue  # What is published, a selection says: tests/operations/test_publish.py.
        if row.code is Code.TRACKED_CACHE:
            continue  # What git tracks, and no case is a repository: tests/cli/test_hostile_caches.py.
        cases = shown.get(f"{row.code}-{row.name}", {})
        if not any(f"[{row.code} {row.name}]" in text for text in cases.values()):
            lacking.append(f"{row.code}: no case reports it")
        if not any(name.startswith("quiet-") and not text for name, text in cases.items()):
            lacking.append(f"{row.code}: no near miss is quiet")

    assert [] == lacking


def test_a_fault_in_one_model_leaves_the_others_typed(tmp_path):
    compilation = compiled(CASES / "projects" / "nineteen-faults", tmp_path)
    totals = compilation.models["healthy_totals"]

    assert () == compilation.diagnostics_of("healthy_totals")
    assert [("customer_id", "bigint"), ("total", "decimal(28,2)"), ("latest", "date")] == [
        (column.name, str(column.type)) for column in totals.columns
    ]
    assert () == compilation.diagnostics_of("reader_of_a_fault")


def test_every_one_of_the_nineteen_faults_is_reported_once(tmp_path):
    compilation = compiled(CASES / "projects" / "nineteen-faults", tmp_path)
    models = [each.model for each in compilation.diagnostics]

    assert 19 == len(models) == len(set(models))
