"""Rocky's answer beside Spark's: what differs, as sentences.

A name is compared when a query's author gave it: names Spark makes up for expressions without an
alias are its own business, and a model that leaves one is warned about.
"""

import json
import re
from typing import Any

import rocky
from rocky.diagnostics import Severity
from rocky.language.datatypes.text import type_from_json, type_to_json
from tests.corpus.questions import Question, shop_tables

OTHER_CONDITIONS = {
    # Spark's grammar lets the slip pass as a name or an alias, and analysis fails over that.
    "refused_syntax/missing_from_table": "PARSE_SYNTAX_ERROR",
    "refused_syntax/operator_without_operand": "PARSE_SYNTAX_ERROR",
    "refused_syntax/cast_without_type": "PARSE_SYNTAX_ERROR",
    "refused_syntax/cast_with_comma": "PARSE_SYNTAX_ERROR",
    "refused_types/limit_of_column": "INVALID_LIMIT_LIKE_EXPRESSION",
    "refused_subqueries/recursive_columns": "NUM_COLUMNS_MISMATCH",
    # Where nothing is written, that is the report, whatever Spark expected to read next.
    "refused_syntax/empty_statement": "PARSE_EMPTY_STATEMENT",
    "refused_syntax/only_comment": "PARSE_EMPTY_STATEMENT",
    # The comma is the mistake; Spark points at what follows it.
    "refused_syntax/trailing_comma": "TRAILING_COMMA_IN_SELECT",
    # Told apart by Spark's grammar, one error to the reader of ours.
    "refused_syntax/hyphen_in_name": "PARSE_SYNTAX_ERROR",
    "refused_types/bad_binary_literal": "PARSE_SYNTAX_ERROR",
    "refused_types/unsupported_typed_literal": "PARSE_SYNTAX_ERROR",
    "refused_types/decimal_of_a_name": "INVALID_DECIMAL_PRECISION",
    # The window is wrong; Spark misses the column it would have been.
    "refused_time_windows/slide_longer_than_window": "DATATYPE_MISMATCH",
    "refused_time_windows/offset_longer_than_slide": "DATATYPE_MISMATCH",
    "refused_time_windows/offset_negative_longer_than_slide": "DATATYPE_MISMATCH",
    "refused_time_windows/offset_equals_slide": "DATATYPE_MISMATCH",
    "refused_time_windows/zero_length": "DATATYPE_MISMATCH",
    "refused_time_windows/negative_length": "DATATYPE_MISMATCH",
    "refused_time_windows/zero_slide": "DATATYPE_MISMATCH",
    "refused_time_windows/negative_slide": "DATATYPE_MISMATCH",
    "refused_time_windows/time_int": "DATATYPE_MISMATCH",
    "refused_time_windows/time_boolean": "DATATYPE_MISMATCH",
    "refused_time_windows/time_struct": "DATATYPE_MISMATCH",
    "refused_time_windows/session_int_time": "DATATYPE_MISMATCH",
    "refused_time_windows/int_negative_length": "DATATYPE_MISMATCH",
    "refused_time_windows/time_unknown": "UNRESOLVED_COLUMN",
    # Spark leaves the window as it is and fails over something else.
    "refused_time_windows/window_in_join": "UNSUPPORTED_EXPR_FOR_OPERATOR",
    "refused_time_windows/window_in_values_list": "UNSUPPORTED_EXPR_FOR_OPERATOR",
    # What is meant is said; Spark looks at it after it has rewritten the query.
    "refused_group_all/order_by_aggregate_of_alias": "UNSUPPORTED_FEATURE",
    "refused_grouping_sets/aggregate_in_rollup_key": "GROUP_BY_AGGREGATE",
    # Spark's grammar reads these as a literal and as calls.
    "refused_pivots/value_subquery": "PARSE_SYNTAX_ERROR",
    "refused_grouping_sets/cube_as_function": "PARSE_SYNTAX_ERROR",
    "refused_grouping_sets/rollup_as_function": "PARSE_SYNTAX_ERROR",
    # The library parts the text of an interval into number and unit, or finds no number in it.
    "refused_intervals/day_second_t": "PARSE_SYNTAX_ERROR",
    "refused_intervals/interval_of_bad_number": "PARSE_SYNTAX_ERROR",
    "refused_intervals/text_form_bad_unit": "PARSE_SYNTAX_ERROR",
    "refused_intervals/text_form_fraction_day": "INVALID_INTERVAL_FORMAT",
    "refused_intervals/text_fraction_many": "INVALID_INTERVAL_FORMAT",
    "refused_intervals/text_nanos": "INVALID_INTERVAL_FORMAT",
    "refused_intervals/text_quarter": "PARSE_SYNTAX_ERROR",
    # A number and a text are one to the library here, and a range is judged by its words.
    "refused_intervals/interval_without_unit": "INVALID_TYPED_LITERAL",
    "refused_intervals/plural_range": "INVALID_INTERVAL_FORMAT",
    "refused_intervals/scientific_number": "INVALID_INTERVAL_FORMAT",
    # The same condition at the part that is wrong, where Spark points at another.
    "refused_intervals/interval_between_families": "DATATYPE_MISMATCH",
    "refused_intervals/minus_before_text_multi": "UNRESOLVED_COLUMN",
    "refused_pipe_steps/aggregate_key_repeated": (
        "PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION"
    ),
    "refused_pipe_steps/aggregate_not_aggregate": (
        "PIPE_OPERATOR_AGGREGATE_EXPRESSION_CONTAINS_NO_AGGREGATE_FUNCTION"
    ),
    "refused_recursion/recursive_alias_arity": "ASSIGNMENT_ARITY_MISMATCH",
    # Spark looks for a column or a table where nothing of the kind was meant.
    "refused_correlation/scalar_empty": "PARSE_SYNTAX_ERROR",
    "refused_inline_tables/empty": "PARSE_SYNTAX_ERROR",
    "refused_inline_tables/empty_row": "INVALID_INLINE_TABLE",
    "refused_inline_tables/trailing_comma": "PARSE_SYNTAX_ERROR",
    # An inline table sees no columns, so a column in it is unknown.
    "refused_correlation/lateral_values": "UNRESOLVED_COLUMN",
    "refused_inline_tables/correlated_inside": "UNRESOLVED_COLUMN",
    # The cause is named: two columns of one name, a step with too many columns, a later CTE.
    "refused_correlation/lateral_ambiguous": "AMBIGUOUS_REFERENCE",
    "refused_recursion/recursive_arity": "NUM_COLUMNS_MISMATCH",
    "refused_recursion/recursive_mutual": "TABLE_OR_VIEW_NOT_FOUND",
    "refused_shared_names/union_duplicate_order": "AMBIGUOUS_REFERENCE",
    # What stands after LATERAL is judged as what stands after LATERAL VIEW.
    "refused_correlation/lateral_scalar_function": "UNSUPPORTED_GENERATOR",
    "refused_correlation/lateral_table": "PARSE_SYNTAX_ERROR",
    "refused_correlation/lateral_unknown_function": "ROUTINE_NOT_FOUND",
    # Two faults in one query: the other one is reported.
    "refused_arguments/named_user_alias": "PARSE_SYNTAX_ERROR",
    "refused_lambdas/lambda_qualified_name": "UNRESOLVED_COLUMN",
    "refused_pipe_steps/aggregate_group_window": "UNSUPPORTED_EXPR_FOR_OPERATOR",
    "refused_recursion/identifier_bad_text": "UNRESOLVED_COLUMN",
    "refused_stars/count_star_having": "_LEGACY_ERROR_TEMP_1021",
}
"""Refused queries for which Rocky names another condition than Spark does, and why."""

_GIVEN_NAME = re.compile(r"[^\W\d]\w*")


def differences(sql: str, answer: Any) -> list[str]:
    """How Rocky's view of an accepted query differs from Spark's; empty when they agree."""
    checked = rocky.check_sql(sql, tables=shop_tables())
    errors = [each for each in checked.diagnostics if each.severity is Severity.ERROR]
    if errors:
        return [f"refused: {each.code} {each.condition}: {each.message}" for each in errors]
    ours = [(column.name, column.type, column.nullable) for column in checked.columns]
    spark = [(name, type_from_json(kind), nullable) for name, kind, nullable in answer]
    if not checked.complete or len(ours) != len(spark):
        return [f"{len(ours)} columns, Spark has {len(spark)}: {[name for name, _, _ in ours]}"]
    return [
        f"column {at}: {_text(mine)}, Spark has {_text(theirs)}"
        for at, (mine, theirs) in enumerate(zip(ours, spark, strict=True), start=1)
        if mine[1:] != theirs[1:] or (mine[0] != theirs[0] and _GIVEN_NAME.fullmatch(theirs[0]))
    ]


def _text(column: tuple[str, Any, bool]) -> str:
    name, kind, nullable = column
    # A simple string such as array<int> hides the nullability inside; the JSON form shows it.
    text = str(kind) if "<" not in str(kind) else json.dumps(type_to_json(kind))
    return f"`{name}` {text}{'' if nullable else ' NOT NULL'}"


def is_refused(sql: str) -> bool:
    """Whether Rocky finds an error in a query."""
    return not rocky.check_sql(sql, tables=shop_tables()).ok


def refusal_problem(question: Question, answer: Any) -> str | None:
    """What is wrong with Rocky's judgement of a query Spark refuses; None when it is right.

    Right is an error with Spark's main condition that touches the place Spark points at.
    """
    checked = rocky.check_sql(question.sql, tables=shop_tables())
    errors = [each for each in checked.diagnostics if each.severity is Severity.ERROR]
    if not errors:
        return f"accepted, Spark says {answer['condition']}"
    expected = OTHER_CONDITIONS.get(question.id, _main(answer["condition"]))
    conditions = [_main(each.condition) for each in errors]
    if expected not in conditions and not _is_unnamed(answer["condition"]):
        return f"refused as {[each.condition for each in errors]}, Spark says {answer['condition']}"
    if "start" not in answer or question.id in OTHER_CONDITIONS:
        return None
    start, end = answer["start"], answer["stop"] + 1
    if any(each.span and each.span.start < end and start < each.span.end for each in errors):
        return None
    return f"refused at {[each.span for each in errors]}, Spark points at {(start, end)}"


def _main(condition: str | None) -> str | None:
    return condition.split(".")[0] if condition else None


def _is_unnamed(condition: str | None) -> bool:
    """Whether Spark itself has only a number for it, or nothing: any name will do then."""
    # An internal error is Spark falling over its own feet.
    return condition in (None, "INTERNAL_ERROR") or condition.startswith("_LEGACY_ERROR_TEMP")
