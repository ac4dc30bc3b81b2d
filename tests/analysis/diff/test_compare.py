"""Properties of the whole diff, and what it refuses to compare."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rocky.analysis.changes.change import ProjectDiff
from rocky.analysis.changes.diff import diff_compilations
from rocky.errors import NotComparable
from tests.analysis.diff.cases import CORPUS, compile_files, read_cases, show_diff

SHOP = next(read_cases(CORPUS / "columns.txt")).before
LAYOUTS = (" ", "\n", "  \t", " /* why */ ", " -- why\n")


def test_a_project_does_not_differ_from_itself(tmp_path):
    one = compile_files(tmp_path, SHOP)
    models = len(one.models)

    assert diff_compilations(one, one) == ProjectDiff(total_models=models, unchanged=models)


def test_a_project_does_not_differ_from_a_copy_elsewhere(tmp_path):
    base = compile_files(tmp_path / "a", SHOP)
    head = compile_files(tmp_path / "b", SHOP)

    assert diff_compilations(base, head).impact is None


@settings(max_examples=15)
@given(st.lists(st.sampled_from(LAYOUTS), min_size=1, max_size=6), st.booleans())
def test_white_space_comments_and_case_are_no_change(tmp_path_factory, layouts, upper):
    def laid_out(text):
        words = (text.upper() if upper else text).split(" ")
        # A literal keeps its letters.
        joined = "".join(
            word + layouts[at % len(layouts)] for at, word in enumerate(words)
        ).replace("'PAID'", "'paid'")
        return joined.strip()

    files = {
        name: laid_out(text) + "\n" if name.endswith(".sql") else text
        for name, text in SHOP.items()
    }
    base = compile_files(tmp_path_factory.mktemp("base"), SHOP)
    head = compile_files(tmp_path_factory.mktemp("head"), files)

    assert diff_compilations(base, head).tables == ()


def test_two_comparisons_of_the_same_sides_are_equal(tmp_path):
    changed = {**SHOP, "models/orders.sql": "SELECT id, amount AS paid FROM raw.orders\n"}
    del changed["models/revenue.sql"], changed["models/report.sql"]
    sides = [
        (compile_files(tmp_path / f"b{at}", SHOP), compile_files(tmp_path / f"h{at}", changed))
        for at in range(2)
    ]
    first, second = (diff_compilations(*side) for side in sides)

    assert first == second
    assert show_diff(first) == show_diff(second) != ""


@pytest.mark.parametrize("broken", ["base", "head"])
def test_a_side_that_does_not_compile_is_a_failure_and_no_difference(tmp_path, broken):
    good = compile_files(tmp_path / "good", SHOP)
    bad = compile_files(tmp_path / "bad", {**SHOP, "models/report.sql": "SELECT nope FROM revenue"})
    base, head = (bad, good) if broken == "base" else (good, bad)

    with pytest.raises(NotComparable, match=f"the {broken} does not compile"):
        diff_compilations(base, head)


def test_removing_what_was_added_gives_the_change_back(tmp_path):
    base = compile_files(tmp_path / "a", SHOP)
    head = compile_files(tmp_path / "b", {**SHOP, "models/more.sql": "SELECT n FROM revenue\n"})

    forth, back = diff_compilations(base, head), diff_compilations(head, base)
    assert [change.rule for _, change in forth.changes] == ["model_added"]
    assert [change.rule for _, change in back.changes] == ["model_removed"]


def test_models_that_are_not_listed_are_counted_as_unchanged(tmp_path):
    base = compile_files(tmp_path / "a", SHOP)
    files = {**SHOP, "models/report.sql": "SELECT country FROM revenue WHERE n > 10\n"}
    diff = diff_compilations(base, compile_files(tmp_path / "b", files))

    assert (diff.total_models, diff.unchanged) == (4, 3)


def test_no_value_of_a_setting_that_may_be_secret_is_in_a_diff(tmp_path):
    config = SHOP["rocky.toml"]
    secret = '[adapter]\nwarehouse = "s3://key:hush@bucket"\n[adapter.conf]\n"spark.x" = "hush"\n'
    source = SHOP["sources/raw.toml"].replace('path = "orders"', 'path = "hush"')
    base = compile_files(tmp_path / "a", SHOP)
    files = {**SHOP, "rocky.toml": secret + config, "sources/raw.toml": source}
    diff = diff_compilations(base, compile_files(tmp_path / "b", files))

    assert len(diff.settings) == 2
    assert "hush" not in repr(diff)
