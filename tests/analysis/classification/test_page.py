"""The page of concepts has the table of rules, row for row, and every function in it is Spark's."""

from rocky.language.functions.catalogue import find_function
from rocky.language.functions.tag_rules import TAG_RULES

PAGE = "docs/concepts/classification.md"


def table() -> str:
    rows = ["| functions | | why |", "| --- | --- | --- |"]
    for rule in TAG_RULES:
        names = ", ".join(f"`{name}`" for name in rule.functions)
        where = ", over groups" if rule.aggregates else ""
        rows.append(f"| {names} | {rule.effect}{where} | {rule.reason} |")
    return "\n".join(rows) + "\n"


def test_the_page_has_every_rule_with_its_reason(repository, bless):
    path = repository / PAGE
    text = path.read_text(encoding="utf-8")
    before, _, rest = text.partition("<!-- rules -->\n")
    _, _, after = rest.partition("<!-- end of rules -->\n")
    expected = f"{before}<!-- rules -->\n{table()}<!-- end of rules -->\n{after}"
    if bless:
        path.write_text(expected, encoding="utf-8")

    assert expected == path.read_text(encoding="utf-8")


def test_every_function_of_the_rules_is_in_the_catalogue_once():
    names = [name for rule in TAG_RULES for name in rule.functions]

    assert len(names) == len(set(names))
    assert [name for name in names if find_function(name) is None] == []
