"""What macros make has a limit, which is told where it is passed."""

import pytest

from rocky.diagnostics import Code
from tests.language.macros.libraries import expanded, faults, library

TWICE = "CREATE MACRO twice(a EXPRESSION) RETURN @a + @a"


def nested(name: str, depth: int) -> str:
    return f"@{name}(" * depth + "x" + ")" * depth


def test_calls_within_calls_that_grow_without_end_are_told_at_the_call(monkeypatch):
    monkeypatch.setattr("rocky.language.macros.library.MAX_MADE", 1_000)
    text = f"SELECT {nested('twice', 40)}, {nested('twice', 40)}"
    (fault,) = library(TWICE).expand(text)

    assert (
        Code.MACRO_RECURSION,
        "with `@twice` the calls in this text stand for more than 1,000 characters",
    ) == fault[:2]
    assert nested("twice", 7) == text[slice(*fault.places[0].span)]


def test_macros_that_grow_without_end_are_told_once_where_it_is_too_much(monkeypatch):
    monkeypatch.setattr("rocky.language.macros.library.MAX_MADE", 1_000)
    chain = [f"CREATE MACRO m{n}() RETURN @m{n - 1}() + @m{n - 1}()" for n in range(1, 40)]
    made = library("CREATE MACRO m0() RETURN 1 + 1", *chain)
    made.check()

    assert [("macros/m7.sql", Code.MACRO_RECURSION)] == [
        (each.places[0].path, each.code) for each in made.faults
    ]
    assert [] == made.expand("SELECT @m39()")


@pytest.mark.slow
def test_the_size_of_what_macros_make_has_a_limit():
    assert [Code.MACRO_RECURSION] == [code for code, _ in faults(nested("twice", 60), TWICE)]


def test_many_calls_that_are_not_large_are_all_expanded():
    calls = ", ".join(f"@twice(column_{number})" for number in range(1_000))

    assert 1_000 == expanded(f"SELECT {calls}", TWICE).count(" + ")
