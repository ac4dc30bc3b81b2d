"""No expression loses a tag by accident: every place of every template and function is tried."""

import re
from collections.abc import Iterator

import pytest

from rocky.analysis.classification import Classifications, classify
from rocky.compiler.passes import compile_project
from rocky.language.functions.catalogue import all_names
from rocky.language.functions.tag_rules import TAG_RULES
from tests.project.projects import load
from tests.properties.leaf_templates import AGGREGATES, WINDOWS
from tests.properties.scalar_templates import SCALARS

HOLE = re.compile(r"\{(\w+)\}")
ENDING = {name for rule in TAG_RULES if rule.effect == "ends" for name in rule.functions}
TYPES = {
    "number": "int",
    "text": "string",
    "truth": "boolean",
    "day": "date",
    "moment": "timestamp",
    "span": "interval day to second",
    "numbers": "array<int>",
    "texts": "array<string>",
    "dictionary": "map<string,string>",
}
FORMS = [
    "SELECT x FROM (SELECT upper(text_t) AS x FROM people)",
    "WITH c AS (SELECT text_t AS a FROM people) SELECT a || 'x' AS x FROM c",
    "SELECT text_p AS x FROM people UNION ALL SELECT text_t FROM people",
    "SELECT e AS x FROM people LATERAL VIEW explode(texts_t) v AS e",
    "SELECT pos AS x FROM people LATERAL VIEW posexplode(numbers_t) v AS pos, e",
    "SELECT k AS x FROM people LATERAL VIEW explode(dictionary_t) v AS k, v",
    "SELECT e.x FROM people, LATERAL (SELECT text_t AS x) e",
    "SELECT e.col AS x FROM people, LATERAL explode(texts_t) e",
    "SELECT (SELECT max(q.text_t) FROM people q WHERE q.id = p.id) AS x FROM people p",
    "SELECT text_p IN (SELECT text_t FROM people) AS x FROM people",
    "SELECT transform(numbers_p, e -> e + number_t) AS x FROM people",
    "SELECT filter(numbers_p, e -> truth_t) AS x FROM people",
    "SELECT aggregate(numbers_t, 0, (a, e) -> a + e) AS x FROM people",
    "SELECT zip_with(numbers_p, numbers_t, (a, b) -> b) AS x FROM people",
    "SELECT s.b AS x FROM (SELECT named_struct('a', text_p, 'b', text_t) AS s FROM people)",
    "SELECT s.* FROM (SELECT named_struct('x', text_t) AS s FROM people)",
    "SELECT `12` AS x FROM (SELECT id, text_t, number_p FROM people)"
    " PIVOT (max(number_p) FOR text_t IN ('12'))",
    "SELECT `12` AS x FROM (SELECT id, text_p, text_t FROM people)"
    " PIVOT (max(text_t) FOR text_p IN ('12'))",
    "SELECT x FROM (SELECT text_t, text_p FROM people) UNPIVOT (x FOR n IN (text_t, text_p))",
    "SELECT CASE WHEN text_t = '12' THEN 1 ELSE 0 END AS x FROM people",
    "SELECT CASE id WHEN number_t THEN 1 ELSE 0 END AS x FROM people",
    "SELECT text_t AS x FROM people GROUP BY text_t",
    "SELECT concat(max(text_t), count(text_t)) AS x FROM people",
    "SELECT text_t AS y, y || '!' AS x FROM people",
    "FROM people |> EXTEND text_t || 'x' AS x |> SELECT x",
    "SELECT coalesce(a.text_t, b.text_p) AS x FROM people a FULL JOIN people b ON a.id = b.id",
    "SELECT text_t AS x FROM people a JOIN people b USING (text_t)",
    "WITH RECURSIVE r(n, x) AS (SELECT 0, '' UNION ALL"
    " SELECT n + 1, text_t FROM r JOIN people ON id = n) SELECT x FROM r",
    "SELECT IDENTIFIER('text_t') AS x FROM people",
    "SELECT x FROM VALUES ('a') v(x) UNION ALL SELECT text_t FROM people",
    "SELECT dictionary_t.a AS x FROM people",
    "SELECT stack(2, text_p, text_t) AS x FROM people",
    "SELECT inline(array(struct(text_t AS x))) FROM people",
    "SELECT json_tuple(to_json(named_struct('a', text_t)), 'a') AS x FROM people",
]


def source() -> str:
    columns = ['{ name = "id", type = "int" }']
    for family, kind in TYPES.items():
        columns.append(f'{{ name = "{family}_t", type = "{kind}", classification = "pii" }}')
        columns.append(f'{{ name = "{family}_p", type = "{kind}" }}')
    listed = ",\n  ".join(columns)
    return f'[[source]]\nname = "people"\ncolumns = [\n  {listed}\n]\n'


def filled(template: str) -> Iterator[str]:
    """A template with a tagged column in each of its places in turn, and plain ones elsewhere."""
    parts = HOLE.split(template)
    places = range(1, len(parts), 2)
    for tagged in places:
        yield "".join(
            f"{part}_{'t' if at == tagged else 'p'}" if at in places else part
            for at, part in enumerate(parts)
        )


def queries(templates: dict[str, tuple[str, ...]], tail: str = "") -> list[str]:
    return [
        f"SELECT {expression} AS x FROM people{tail}"
        for group in templates.values()
        for template in group
        if " FROM " not in template
        for expression in filled(template)
    ]


def calls(part: int, parts: int) -> list[str]:
    """Functions of the catalogue with a tagged argument in each place."""
    found = []
    families = ("text", "number", "truth", "day", "moment", "numbers", "texts", "dictionary")
    for name in sorted(all_names())[part::parts]:
        for one in families if name.isidentifier() else ():
            found.append(f"{name}({one}_t)")
            for two in ("text", "number", one):
                found += [f"{name}({one}_t, {two}_p)", f"{name}({two}_p, {one}_t)"]
                found.append(f"{name}({one}_t, {two}_p, {two}_p)")
    return [f"SELECT {call} AS x FROM people" for call in dict.fromkeys(found)]


def tried(root, asked: list[str]) -> tuple[Classifications, dict[str, str]]:
    """The facts of all queries, and those that compile, by the name of their model."""
    files = {"sources/people.toml": source()}
    files |= {f"models/q{at}.sql": sql for at, sql in enumerate(asked)}
    compilation = compile_project(load(root, files), cache=False, jobs=1)
    wrong = {each.model for each in compilation.diagnostics if each.severity == "error"}
    named = {f"q{at}": sql for at, sql in enumerate(asked)}
    return classify(compilation), {name: sql for name, sql in named.items() if name not in wrong}


def lost(root, asked: list[str]) -> list[str]:
    """The queries whose column has no tag, although no rule of the table ended it."""
    facts, valid = tried(root, asked)
    assert valid
    found = []
    for name, sql in valid.items():
        words = set(re.findall(r"\w+", sql.lower()))
        ended = bool(facts.ended(name).get("x")) and not words.isdisjoint(ENDING)
        if not facts.of(name, "x") and not ended:
            found.append(sql)
    return found


def test_every_place_of_an_expression_carries_a_tag(tmp_path):
    asked = [
        *queries(SCALARS),
        *queries(AGGREGATES),
        *queries(AGGREGATES, " GROUP BY id"),
        *queries(WINDOWS),
    ]

    assert lost(tmp_path, asked) == []


def test_every_form_of_a_query_carries_a_tag(tmp_path):
    _, valid = tried(tmp_path / "valid", FORMS)

    assert list(valid.values()) == FORMS
    assert lost(tmp_path / "lost", FORMS) == []


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize("part", range(12))
def test_every_function_of_the_catalogue_carries_a_tag(tmp_path, part):
    assert lost(tmp_path, calls(part, 12)) == []


def test_a_window_of_an_ending_function_keeps_the_tag(tmp_path):
    asked = [f"SELECT {name}(number_t) OVER (PARTITION BY id) AS x FROM people" for name in ENDING]
    facts, valid = tried(tmp_path, asked)

    assert len(valid) > 10
    assert [sql for name, sql in valid.items() if not facts.of(name, "x")] == []
