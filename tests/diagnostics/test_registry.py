"""Registry, enum, explanations and the table in the docs: one list of codes, seen four ways."""

import re
from pathlib import Path

import pytest

from rocky.diagnostics import REGISTRY, Code, Severity
from rocky.errors import NothingSelected
from rocky.operations.check.explain import explanation

ROOT = Path(__file__).parents[2]
PAGES = ROOT / "src" / "rocky" / "diagnostics" / "explanations"
INDEX = ROOT / "docs" / "diagnostics" / "README.md"


def test_every_code_has_one_row_and_one_page():
    codes = [code.value for code in Code]

    assert codes == [row.code.value for row in REGISTRY]
    assert sorted(codes) == sorted(page.stem for page in PAGES.glob("*.md"))


def test_codes_and_names_are_used_once():
    assert len(REGISTRY) == len({row.name for row in REGISTRY})


@pytest.mark.parametrize("row", REGISTRY, ids=lambda row: row.code.value)
def test_an_explanation_has_its_headings_in_order(row):
    page = explanation(row.code.value)

    assert page.startswith(f"# {row.code.value} {row.name}\n")
    assert ["What it means", "Why it matters", "Example", "Fix"] == re.findall(
        r"^## (.*)$", page, re.MULTILINE
    )


def test_an_explanation_is_found_by_name_too_and_in_any_case():
    assert explanation("E003") == explanation("unknown-column") == explanation("e003")


def test_an_unknown_code_is_an_error_with_the_nearest_name():
    with pytest.raises(NothingSelected, match=r"did you mean `unknown-column`\?"):
        explanation("unknown-colum")


def test_names_read_well_after_allow():
    assert [] == [row.name for row in REGISTRY if not re.fullmatch(r"[a-z]+(-[a-z]+)*", row.name)]
    assert [] == [row.name for row in REGISTRY if row.name.startswith("no-")]


def test_what_is_adjustable_is_not_an_e_code():
    assert [] == [row.code for row in REGISTRY if row.suppressible and row.code.value[0] == "E"]


def test_the_index_in_the_docs_lists_every_code(bless):
    rows = [
        "| code | name | severity | can be allowed | reported for |",
        "| --- | --- | --- | --- | --- |",
    ]
    for row in REGISTRY:
        page = f"../../src/rocky/diagnostics/explanations/{row.code.value}.md"
        allowed = "yes" if row.suppressible else "no"
        severity = Severity(row.severity).value
        rows.append(
            f"| [{row.code.value}]({page}) | `{row.name}` | {severity} | {allowed} | {row.summary} |"
        )
    table = "\n".join(rows) + "\n"
    text = INDEX.read_text()
    before, _, after = text.partition("<!-- codes -->\n")
    _, _, rest = after.partition("<!-- end of codes -->\n")
    expected = f"{before}<!-- codes -->\n{table}<!-- end of codes -->\n{rest}"
    if bless:
        INDEX.write_text(expected)

    assert expected == INDEX.read_text()
