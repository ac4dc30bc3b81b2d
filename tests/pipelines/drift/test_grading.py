"""Drift, difference by difference."""

import pytest

from rocky.errors import ChangeRefused, SourceUnreadable
from rocky.pipelines.drift.decision import GraceTerms, decide_drift
from tests.pipelines.drift.columns import NOW, TABLE, columns, grade, made, metadata, told


def test_equal_columns_are_no_drift_and_keep_the_spelling_of_the_copy():
    decision = grade("ID bigint, name string", "id bigint, Name string")

    assert [] == told(decision)
    assert ["id bigint = `ID`", "Name string = `name`"] == made(decision)


def test_a_first_copy_takes_every_column():
    decision = grade("id bigint NOT NULL, s string", None, own=[metadata("_by")])

    assert [] == told(decision)
    assert ["id bigint = `id`", "s string = `s`", "_by string = CAST(NULL AS string)"] == made(
        decision
    )
    assert all(each.field.nullable for each in decision.projection)


def test_a_new_column_is_added_behind_those_that_are_there():
    decision = grade("id bigint, new date", "id bigint, _by string", own=[metadata("_by")])

    assert ["new add add_column None>date"] == told(decision)
    assert ["id", "_by", "new"] == [each.name for each in decision.projection]


@pytest.mark.parametrize(
    ("live", "stored"),
    [
        ("smallint", "tinyint"),
        ("int", "smallint"),
        ("bigint", "int"),
        ("double", "tinyint"),
        ("double", "int"),
        ("double", "float"),
        ("decimal(20,0)", "bigint"),
        ("decimal(10,0)", "int"),
        ("decimal(12,2)", "int"),
        ("decimal(12,2)", "decimal(10,2)"),
        ("decimal(12,4)", "decimal(10,2)"),
        ("timestamp_ntz", "date"),
        ("array<bigint>", "array<int>"),
        ("map<string,double>", "map<string,float>"),
        ("struct<a:bigint>", "struct<a:int>"),
    ],
)
def test_what_delta_widens_is_widened(live, stored):
    decision = grade(f"c {live}", f"c {stored}")

    assert [f"c widen widen_column {stored}>{live}"] == told(decision)
    assert [f"c {live} = `c`"] == made(decision)
    assert not decision.replace
    assert () == decision.grace


@pytest.mark.parametrize(
    ("live", "stored"), [("int", "bigint"), ("decimal(8,2)", "decimal(10,2)"), ("int", "double")]
)
def test_a_source_that_is_narrower_than_its_copy_is_cast_up(live, stored):
    decision = grade(f"c {live}", f"c {stored}", recorded=f"c {stored}")

    assert [f"c ignore cast_up {stored}>{live}"] == told(decision)
    assert [f"c {stored} = CAST(`c` AS {stored})"] == made(decision)


@pytest.mark.parametrize(
    ("live", "stored"),
    [
        ("double", "bigint"),
        ("string", "int"),
        ("int", "string"),
        ("timestamp", "date"),
        ("decimal(10,4)", "decimal(10,2)"),
        ("decimal(10,2)", "int"),
    ],
)
def test_what_delta_does_not_widen_is_put_on_notice(live, stored):
    decision = grade(f"c {live}", f"c {stored}")

    assert [f"c grace try_cast {stored}>{live} 7"] == told(decision)
    assert [f"c {stored} = try_cast(`c` AS {stored})"] == made(decision)
    (period,) = decision.grace
    assert (TABLE, "c", "retyped", live) == (
        period.table,
        period.column,
        period.change,
        period.type,
    )


def test_a_type_that_cannot_be_cast_back_is_filled_with_null():
    decision = grade("c array<int>", "c int")

    assert ["c int = CAST(NULL AS int)"] == made(decision)


def test_lengths_of_strings_are_no_drift():
    assert [] == told(grade("c varchar(50)", "c string", recorded="c varchar(20)"))


def test_a_dropped_column_is_filled_with_null_and_warned_of_with_the_days_left():
    first = grade("id bigint", "id bigint, gone string")
    later = grade("id bigint", "id bigint, gone string", periods=first.grace, after=5.5)

    assert ["gone grace fill_null string>None 7"] == told(first)
    assert ["gone grace fill_null string>None 2"] == told(later)
    assert "gone string = CAST(NULL AS string)" in made(later)
    assert [
        "`lake.raw.orders`: column `gone` is gone from the source; it is filled with null for 2"
        " more days; then the table is replaced without it"
    ] == list(later.warnings)
    # The period runs as it was written: looking again does not prolong it.
    assert () == later.grace
    assert () == later.ended


def test_a_dropped_column_goes_when_its_period_ends_and_not_before():
    first = grade("id bigint", "id bigint, gone string")
    before = grade("id bigint", "id bigint, gone string", periods=first.grace, after=6.999)
    after = grade(
        "id bigint", "id bigint, gone string", recorded="id bigint", periods=first.grace, after=7
    )

    assert not before.replace
    assert after.replace
    assert ["gone replace replace_table string>None 0"] == told(after)
    assert ["id bigint = `id`"] == made(after)
    assert ("gone",) == after.ended


def test_a_retyped_column_is_replaced_when_its_period_ends():
    first = grade("c string", "c int")
    after = grade("c string", "c int", recorded="c string", periods=first.grace, after=7)

    assert after.replace
    assert ["c string = `c`"] == made(after)
    assert ("c",) == after.ended


def test_without_a_grace_period_the_table_is_replaced_at_once():
    decision = grade("id bigint", "id bigint, gone string", days=0)

    assert decision.replace
    assert () == decision.grace


def test_a_column_that_reappears_ends_its_period():
    first = grade("id bigint", "id bigint, gone string")
    back = grade("id bigint, gone string", "id bigint, gone string", periods=first.grace, after=3)

    assert ["gone ignore notice_ended string>string"] == told(back)
    assert ("gone",) == back.ended
    assert "gone string = `gone`" in made(back)


def test_a_column_that_reappears_as_something_else_gets_a_period_of_its_own():
    first = grade("id bigint", "id bigint, c int")
    back = grade(
        "id bigint, c string",
        "id bigint, c int",
        recorded="id bigint",
        periods=first.grace,
        after=6,
    )

    assert ["c grace try_cast int>string 7"] == told(back)
    assert () == back.ended
    assert ["retyped"] == [each.change for each in back.grace]


def test_a_type_that_changes_again_does_not_prolong_the_period():
    first = grade("c string", "c int")
    again = grade("c date", "c int", recorded="c string", periods=first.grace, after=6)

    assert ["c grace try_cast int>date 1"] == told(again)
    assert [first.grace[0].expires_at] == [each.expires_at for each in again.grace]


def test_a_type_that_turns_into_a_wider_one_ends_the_period():
    first = grade("c string", "c int")
    wider = grade("c bigint", "c int", recorded="c string", periods=first.grace, after=1)

    assert ["c widen widen_column int>bigint"] == told(wider)
    assert ("c",) == wider.ended


def test_several_changes_are_graded_each_by_itself():
    first = grade("a int, b string, c string", "a int, b string, c string, d date")
    decision = grade(
        "a bigint, c int, e date",
        "a int, b string, c string, d date",
        recorded="a int, b string, c string",
        periods=first.grace,
        after=8,
    )

    assert [
        "a widen widen_column int>bigint",
        "b grace fill_null string>None 7",
        "c grace try_cast string>int 7",
        "d replace replace_table date>None 0",
        "e add add_column None>date",
    ] == told(decision)
    assert decision.replace
    # Columns whose notice has not ended stay, also when the table is replaced for another's sake.
    assert ["a", "b", "c", "e"] == [each.name for each in decision.projection]


def test_a_column_that_the_source_never_had_stays_and_is_told():
    decision = grade("id bigint", "id bigint, by_hand string", recorded="id bigint")

    assert ["by_hand ignore keep_null string>None"] == told(decision)
    assert "by_hand string = CAST(NULL AS string)" in made(decision)
    assert () == decision.grace


def test_a_type_that_somebody_changed_in_the_copy_is_not_the_sources_doing():
    decision = grade("c string", "c int", recorded="c string")

    assert ["c ignore try_cast int>string"] == told(decision)
    assert () == decision.grace
    assert not decision.replace


def test_without_a_record_of_the_source_a_missing_column_is_taken_for_dropped():
    decision = grade("id bigint", "id bigint, c string", recorded=None)

    assert ["c grace fill_null string>None 7"] == told(decision)


def test_a_source_without_columns_is_unreadable_and_not_empty():
    with pytest.raises(SourceUnreadable, match="has no columns"):
        decide_drift((), None, columns("id bigint"), (), GraceTerms(TABLE, (), NOW, 7))


def test_two_columns_that_spark_cannot_tell_apart_are_refused():
    with pytest.raises(SourceUnreadable, match="`id` and `ID`, which Spark cannot tell apart"):
        grade("id int, ID int", "id int")


def test_a_source_column_called_like_a_metadata_column_is_refused():
    with pytest.raises(ChangeRefused, match="has a column `_BY`, which is also a metadata column"):
        grade("id int, _BY string", "id int", own=[metadata("_by")])


def test_fields_of_structs_are_added_and_widened_by_name():
    added = grade("s struct<b:int,a:int,c:date>", "s struct<a:int,b:int>")
    widened = grade("s struct<a:bigint,b:int>", "s struct<a:int,b:int>")

    assert ["s add add_column struct<a:int,b:int>>struct<a:int,b:int,c:date>"] == told(added)
    assert [
        "s struct<a:int,b:int,c:date> = CASE WHEN `s` IS NULL THEN NULL ELSE struct(`s`.`a` AS `a`,"
        " `s`.`b` AS `b`, `s`.`c` AS `c`) END"
    ] == made(added)
    assert ["s widen widen_column struct<a:int,b:int>>struct<a:bigint,b:int>"] == told(widened)


def test_a_dropped_field_of_a_struct_in_an_array_is_null_until_the_period_ends():
    decision = grade("s array<struct<b:int>>", "s array<struct<a:int,b:int>>")

    assert [
        "s grace try_cast array<struct<a:int,b:int>>>array<struct<b:int>> 7",
    ] == told(decision)
    assert [
        "s array<struct<a:int,b:int>> = transform(`s`, x0 -> CASE WHEN x0 IS NULL THEN NULL ELSE"
        " struct(CAST(NULL AS int) AS `a`, x0.`b` AS `b`) END)"
    ] == made(decision)


def test_the_select_list_names_every_column():
    decision = grade("ID bigint, `odd``name` string", "id bigint, `odd``name` string")

    assert "`ID` AS `id`, `odd``name` AS `odd``name`" == decision.select_list


def test_reached_columns_are_put_beside_the_change():
    decision = grade("id bigint", "id bigint, gone string").with_reached({"gone": ("m.x",)})

    assert [("m.x",)] == [each.reaches for each in decision.records]


def test_columns_that_may_not_say_what_the_source_says_are_told_apart():
    decision = grade(
        "id bigint, b string, d date",
        "id int, a int, b int, c int, d date",
        recorded="id int, a int, b int, d date",
    )

    assert {"a", "b", "c"} == decision.doubtful
