"""The one function that says a value or hides it, and what it is asked with."""

import pytest

from rocky.analysis.classification import TagFact
from rocky.analysis.disclosure import Disclosure, shown
from rocky.analysis.lineage import ColumnRef
from rocky.compiler.passes import compile_project
from tests.analysis.classification.projects import PEOPLE
from tests.project.projects import load

AT = ColumnRef("raw.people", "x")


def facts(*named: str):
    return tuple(TagFact("pii", AT, AT, each) for each in named)


@pytest.mark.parametrize(
    ("value", "fields", "said"),
    [
        ("a", (), "a"),
        (None, ("",), None),
        ("a", ("",), "(hidden: pii)"),
        (0, ("",), "(hidden: pii)"),
        ({"a": 1}, ("",), "(hidden: pii)"),
        ({"Street": "x", "city": "y"}, ("street",), {"Street": "(hidden: pii)", "city": "y"}),
        ({"street": None, "city": "y"}, ("street",), {"street": None, "city": "y"}),
        ({"a": {"b": 1, "c": 2}}, ("a.b",), {"a": {"b": "(hidden: pii)", "c": 2}}),
        ([{"b": 1, "c": 2}], ("b",), [{"b": "(hidden: pii)", "c": 2}]),
        ([("key", 1)], ("b",), "(hidden: pii)"),
        ({"b": 1}, ("", "b"), "(hidden: pii)"),
        ('{"street": "x"}', ("street",), "(hidden: pii)"),
    ],
)
def test_a_value_is_said_or_hidden_and_a_struct_field_by_field(value, fields, said):
    assert said == shown(value, facts(*fields))


def test_a_column_is_hidden_by_what_it_is_made_of_and_for_whom(tmp_path):
    roles = '[classifications.tags.pii]\nclear_for = ["dpo"]\n[classifications.tags.gdpr]\n[role.dpo]\nmembers = ["eve"]\n'
    files = {
        "sources/raw.toml": PEOPLE,
        "rocky.toml": roles,
        "models/stg.sql": "SELECT id, email, born, address.street AS street, city FROM raw.people",
        "models/top.sql": "SELECT id, upper(email) AS e, born, street, city FROM stg",
    }
    compilation = compile_project(load(tmp_path, files), cache=False)
    columns = ("id", "e", "born", "street", "city")

    def hidden(person):
        looking = Disclosure(compilation, person)
        return {
            name: {each.tag for each in looking.in_column("top", name)}
            for name in columns
            if looking.in_column("top", name)
        }

    everything = {"e": {"pii"}, "born": {"pii", "gdpr"}, "street": {"pii"}}
    assert everything == hidden(None) == hidden("") == hidden("mallory")
    assert {"born": {"gdpr"}} == hidden("eve")


def test_a_project_without_tags_hides_nothing(tmp_path):
    files = {"models/one.sql": "SELECT 1 AS email"}
    looking = Disclosure(compile_project(load(tmp_path, files), cache=False))

    assert not looking
    assert () == looking.in_column("one", "email") == looking.in_column("gone", "email")
