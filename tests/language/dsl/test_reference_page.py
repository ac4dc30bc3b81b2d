"""The reference page says what is true: its examples compile, and between them have every construct."""

import re
from typing import get_args

import pytest

import rocky
from rocky.language.dsl.layout import lay_out
from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.mapped_text import MappedText
from rocky.language.dsl.pipelines import JOINED_WORDS, parse_text
from rocky.language.dsl.tokens import WORDS
from rocky.language.dsl.tree import Form, Node
from tests.language.dsl.reference_page import PAGE, examples, tables


@pytest.fixture(scope="module")
def schemas():
    found = {}
    for name, sql in tables().items():
        columns = rocky.check_sql(sql, tables={}).columns
        found[name] = ", ".join(
            f"{c.name} {c.type}{'' if c.nullable else ' NOT NULL'}" for c in columns
        )
    return found


@pytest.mark.parametrize("each", examples(), ids=lambda each: each.pipeline)
def test_an_example_compiles_to_the_columns_of_the_sql_beside_it(each, schemas):
    lowered = lower_text(each.pipeline)
    assert isinstance(lowered, MappedText), lowered
    made = rocky.check_sql(lowered.text, tables=schemas)
    meant = rocky.check_sql(each.sql, tables=schemas)

    assert [] == [found.message for found in (*made.diagnostics, *meant.diagnostics)]
    assert [(c.name, str(c.type)) for c in meant.columns] == [
        (c.name, str(c.type)) for c in made.columns
    ]


@pytest.mark.parametrize("each", examples(), ids=lambda each: each.pipeline)
def test_an_example_stands_in_the_layout_of_fmt(each):
    if " | " not in each.pipeline:
        assert each.pipeline == lay_out(each.pipeline)


def forms(node: Node) -> set[str]:
    return {node.form}.union(*(forms(each) for each in node.nodes))


def test_the_examples_have_every_construct_and_every_word():
    trees = [tree for each in examples() if isinstance(tree := parse_text(each.pipeline), Node)]
    words = {token.text for tree in trees for token in tree.tokens() if token.kind == "word"}

    assert set(get_args(Form)) == set().union(*map(forms, trees))
    # These are spellings of a test or a truth that the table of expressions names.
    assert WORDS - words <= {"ilike", "rlike", "false", "true"}


def test_the_page_lists_the_words():
    _, _, section = PAGE.read_text().partition("## Words\n")
    listed = section.partition("```")[0].partition(" `left(")[0].partition("dot: ")[2]

    assert sorted(WORDS) == re.findall(r"`(\w+)`", listed)
    assert all(word.endswith("_join") for word in JOINED_WORDS)
