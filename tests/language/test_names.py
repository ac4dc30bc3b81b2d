"""Names and texts as SQL writes them."""

import re
from pathlib import Path

import pytest

from rocky.language.names import quote_if_needed, quote_name, quote_text, split_name

SOURCE = Path(__file__).parents[2] / "src" / "rocky"


def test_a_name_in_backticks_is_the_name_whatever_is_in_it():
    assert "`a``b`" == quote_name("a`b")
    assert "``" == quote_name("")


@pytest.mark.parametrize("name", ["id", "_id", "Order_2"])
def test_a_plain_name_needs_no_backticks(name):
    assert name == quote_if_needed(name)


@pytest.mark.parametrize("name", ["2nd", "größe", "a b", "a`b", "a.b", ""])
def test_any_other_name_needs_them(name):
    assert quote_name(name) == quote_if_needed(name)


def test_a_text_in_quotes_is_the_text_whatever_is_in_it():
    assert r"'it\'s \\d'" == quote_text(r"it's \d")


def test_the_parts_of_a_name_have_no_backticks():
    assert ("cat", "Sales", "t") == split_name("cat.`Sales`.t")


def test_names_are_quoted_and_split_in_one_module():
    doing = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"""\.replace\(["']`["'], ["']``|\.strip\(["']`["']\)""", path.read_text())
    }

    assert {"language/names.py"} == doing
