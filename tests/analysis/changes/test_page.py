"""The page of the written rules says what the rules are."""

import re

from rocky.analysis.changes.change import RULES
from rocky.analysis.changes.columns import INTEGRAL_DIGITS, WIDER_KINDS, widening_reason
from rocky.language.datatypes.text import parse_type

PAGE = "docs/reference/breaking-changes.md"


def rows(text, heading):
    """The cells of the table under a heading, a row a list of cells."""
    _, _, below = text.partition(f"{heading}\n")
    table = below[below.index("| ---") :].partition("\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def quoted(cell):
    return [parse_type(each) for each in re.findall(r"`([^`]+)`", cell)]


def test_the_page_lists_every_rule_with_its_impact_and_sentence(repository):
    text = (repository / PAGE).read_text(encoding="utf-8")

    listed = [[name.strip("`"), impact, said] for name, impact, said in rows(text, "## The rules")]
    assert listed == [[rule.name, str(rule.impact), rule.sentence] for rule in RULES.values()]


def test_every_pair_of_the_pages_widening_table_widens(repository):
    text = (repository / PAGE).read_text(encoding="utf-8")
    table = rows(text, "## Types that widen")

    wrong = [
        (str(one), str(other))
        for before, after in table
        for one in quoted(before)
        for other in quoted(after)
        if widening_reason(one, other) is None
    ]
    assert wrong == []


def test_the_pages_widening_table_leaves_out_no_row(repository):
    text = (repository / PAGE).read_text(encoding="utf-8")
    pairs = {
        (one.kind, other.kind)
        for before, after in rows(text, "## Types that widen")
        for one in quoted(before)
        for other in quoted(after)
    }

    plain = {(kind, wider) for kind, found in WIDER_KINDS.items() for wider in found}
    decimals = {(kind, "decimal") for kind in (*INTEGRAL_DIGITS, "decimal")}
    texts = {("varchar", "varchar"), ("varchar", "string"), ("char", "varchar"), ("char", "string")}
    nested = {(kind, kind) for kind in ("array", "map", "struct")}
    assert pairs == plain | decimals | texts | nested


def test_no_pair_that_the_page_leaves_out_widens(repository):
    text = (repository / PAGE).read_text(encoding="utf-8")
    table = rows(text, "Some neighbours that are not in the table:")

    wrong = [
        (str(one), str(other))
        for before, after, _ in table
        for one in quoted(before)
        for other in quoted(after)
        if widening_reason(one, other) is not None
    ]
    assert (len(table) > 5, wrong) == (True, [])
