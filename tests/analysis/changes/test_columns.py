"""Two lists of columns, whoever declared them, compared by the written rules."""

from hypothesis import given
from hypothesis import strategies as st

from rocky.analysis.changes.change import RULES, Impact, change_of, worst_impact
from rocky.analysis.changes.columns import compare_columns
from rocky.language.datatypes.text import parse_schema
from rocky.language.ir import OutputColumn


def compare(before, after, **options):
    return [
        (change.rule, change.column, change.before, change.after)
        for change in compare_columns(parse_schema(before), parse_schema(after), **options)
    ]


def moved(before, after):
    names = [list(each) for each in (before, after)]
    columns = [", ".join(f"{name} int" for name in side) for side in names]
    return [column for rule, column, _, _ in compare(*columns) if rule == "column_reordered"]


def test_equal_columns_give_no_change():
    assert compare("a int, b string NOT NULL", "A int, b string NOT NULL") == []


def test_each_kind_of_change_is_told_with_both_sides():
    found = compare(
        "a int NOT NULL, b int, c string, d int", "b bigint, c binary, a int, e date NOT NULL"
    )

    assert found == [
        ("column_nullability_loosened", "a", "NOT NULL", "NULL"),
        ("column_type_widened", "b", "int", "bigint"),
        ("column_type_changed", "c", "string", "binary"),
        ("column_removed", "d", "int", None),
        ("column_added", "e", None, "date NOT NULL"),
        ("column_reordered", "a", "1", "3"),
    ]


def test_a_known_rename_is_compared_under_both_names():
    found = compare("a int, b int", "x bigint, b int", renamed={"A": "X"})

    assert found == [
        ("column_renamed", "a", "a", "x"),
        ("column_type_widened", "x", "int", "bigint"),
    ]


def test_a_column_missing_from_an_incomplete_list_is_not_known_to_be_gone():
    assert compare("a int, b int", "a int", complete=False) == [
        ("column_type_changed", "b", "int", "unknown")
    ]


def test_plain_fields_and_columns_of_models_are_compared_alike():
    fields = parse_schema("a int")
    columns = [OutputColumn(each.name, each.type, each.nullable) for each in fields]

    assert compare_columns(fields, columns) == ()


def test_of_two_columns_of_one_name_each_is_compared_with_its_own():
    fields = parse_schema("a int, b int")
    twice = [OutputColumn("a", each.type, each.nullable) for each in fields]

    assert compare_columns(twice, twice) == ()
    assert [change.rule for change in compare_columns(twice, twice[:1])] == ["column_removed"]


def test_only_columns_outside_the_longest_common_order_have_moved():
    assert moved("abcde", "abcde") == []
    assert moved("abcde", "bcdea") == ["a"]
    assert moved("abcde", "eabcd") == ["e"]
    assert moved("abcde", "abdce") == ["d"]
    assert moved("abcde", "xabcde") == []
    assert moved("abcde", "bcde") == []
    assert moved("abc", "cba") == ["c", "b"]


@given(st.permutations("abcdef"), st.permutations("abcdef"))
def test_putting_moved_columns_back_restores_the_order(before, after):
    out = set(moved(before, after))
    rest = [name for name in after if name not in out]

    assert rest == [name for name in before if name not in out]


def test_a_part_that_can_be_null_is_told_with_its_path():
    before, after = (
        parse_schema("s struct<a: int NOT NULL, b: int>"),
        parse_schema("s struct<a: int, b: int NOT NULL>"),
    )

    (found,) = compare_columns(before, after)
    assert (found.rule, found.detail) == ("column_nullability_loosened", "`s.a`")


def test_a_loss_in_a_part_is_told_whatever_the_column_itself_has_gained():
    found = compare_columns(
        parse_schema("s struct<a: int NOT NULL, b: int>"),
        parse_schema("s struct<a: int, b: int NOT NULL> NOT NULL"),
    )

    assert [(each.rule, each.detail) for each in found] == [
        ("column_nullability_tightened", ""),
        ("column_nullability_loosened", "`s.a`"),
    ]


def test_the_worst_impact_of_changes_is_the_verdict():
    changes = [change_of("column_added"), change_of("column_removed"), change_of("logic_changed")]

    assert worst_impact(changes) is Impact.BREAKING
    assert worst_impact(changes[:1]) is Impact.INFO
    assert worst_impact([]) is None


def test_a_rule_is_found_by_its_own_name():
    assert all(rule.name == name for name, rule in RULES.items())
