"""What editors list, colour, fold and show beside a text."""

from rocky.ide.folding import folds
from rocky.ide.inlay_hints import inlay_hints
from rocky.ide.lenses import lenses
from rocky.ide.lineage_hierarchy import goes_to, lineage_at, made_from
from rocky.ide.outline import find_in_project, outline
from rocky.ide.semantic_tokens import semantic_tokens
from tests.ide.projects import at, marked


def test_an_outline_has_the_ctes_and_columns_of_a_query_in_order(view):
    found = outline(view.open("models/totals.sql"))

    assert [
        ("big", "cte"),
        ("customer_id", "column"),
        ("total", "column"),
        ("most", "column"),
    ] == [(each.name, each.kind) for each in found]
    assert ["customer_id", "gross", "twice"] == [each.name for each in found[0].children]
    assert "decimal(20,2)" == found[2].detail


def test_an_outline_has_the_blocks_of_a_settings_file(view):
    names = [each.name for each in outline(view.open("models/orders.toml"))]

    assert ["classification", "columns.gross", "tests", "tests", "test"] == names[:5]


def test_things_of_a_project_are_found_by_a_part_of_their_names(view):
    found = find_in_project(view, "tot")

    assert [("totals", "model", "models/totals.sql"), ("total", "column", "models/totals.sql")] == [
        (each.name, each.kind, each.place.path) for each in found
    ]
    assert [("net", "macro")] == [
        (each.name, each.kind) for each in find_in_project(view, "net") if each.kind == "macro"
    ]


def test_names_are_told_apart_for_colours_and_never_overlap(view):
    file = view.open("models/orders.sql")
    tokens = semantic_tokens(file)

    kinds = {file.text[slice(*each.span)]: each for each in tokens}
    assert "table" == kinds["raw.orders"].kind
    assert "relation" == kinds["o"].kind
    assert "macro" == kinds["@net"].kind
    assert ("declared",) == kinds["tidy"].modifiers
    emails = [each for each in tokens if file.text[slice(*each.span)] == "email"]
    assert ("classified",) == emails[0].modifiers
    ends = [each.span.end for each in tokens]
    assert all(end <= each.span.start for end, each in zip(ends, tokens[1:], strict=False))


def test_hints_give_the_types_of_what_is_computed_and_no_others(view):
    file, _ = marked(
        view,
        "models/last.sql",
        "|SELECT gross AS g, gross * 2 AS h, count(*) AS n FROM orders GROUP BY gross",
    )

    assert [": decimal(12,2)", ": bigint NOT NULL"] == [each.text for each in inlay_hints(file)]


def test_parentheses_comments_and_settings_of_several_lines_fold(view):
    text = "---toml\ndescription = 'x'\nowner = 'y'\n---\n-- one\n-- two\nSELECT (\n1\n) AS a, (2) AS b"
    file = view.open("models/last.sql", text)

    assert ["settings", "comment", "region"] == [each.kind for each in folds(file)]
    assert 7 == len(folds(view.open("models/orders.toml")))


def test_a_lens_has_the_facts_of_a_model(view):
    (found,) = lenses(view.open("models/orders.sql"))

    assert ("orders", 6, 1, 4, 2, 1, True) == found[1:]
    assert () == lenses(view.open("models/orders.toml"))


def test_lineage_is_walked_both_ways_table_by_table_and_column_by_column(view):
    model = lineage_at(*at(view, "models/orders.sql", "SELECT"))
    column = lineage_at(*at(view, "models/orders.sql", "AS gross", "gross"))

    assert model is not None
    assert column is not None
    assert ["raw.orders"] == [each.name for each in made_from(view, model)]
    assert {"everything", "scored", "steps", "totals"} == {
        each.name for each in goes_to(view, model)
    }
    assert [("raw.orders.amount", "direct")] == [
        (each.name, each.kind) for each in made_from(view, column)
    ]
    below = {(each.name, each.kind) for each in goes_to(view, column)}
    assert ("totals.total", "aggregate") in below
    assert ("everything.gross", "direct") in below
