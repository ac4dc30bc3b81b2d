"""Queries of the corpus on which Rocky and Spark are known to differ, each with why.

A gap that closes fails its test, so that this list can only shrink on purpose.
"""

from tests.corpus.questions import Question, questions

ACCEPTED_GAPS = {
    "sketches/function_forms_of_operators": "`when(...)` as a function: the parser library reads CASE",
    "aggregate_windows/explode_in_over": (
        "a generator in OVER of an aggregate passes Spark's analyser by an oversight"
    ),
    "grouping_sets/window_in_rollup_key": (
        "a window function as the key of a rollup passes Spark's analyser by an oversight"
    ),
    "pivots/value_upper": "a pivot value computed by a function names its column; it is not computed",
    "time_windows/window_of_outer_column": "an aggregate of a time window of outer columns is refused",
    "time_windows/window_time_in_order": (
        "ORDER BY window_time(...) leaves its column in Spark's output; it is left out"
    ),
}
"""Spark accepts these, and Rocky refuses or types them otherwise."""

REFUSED_GAPS = {
    "refused_subqueries/recursive_in_aggregate": "where a recursive reference may stand is not checked",
    "refused_syntax/not_equal_spelt_wrong": "`=!` is read as `= NOT`",
    "refused_syntax/nested_on_after_on": "the parser library takes ON clauses in any order",
    "refused_syntax/pipe_aggregate_without_function": "an empty |> AGGREGATE is let pass",
    "refused_syntax/over_without_parentheses": "OVER without a window is read as an empty one",
    "refused_syntax/frame_without_order_of_bounds": "BETWEEN without AND is completed by the library",
    "refused_syntax/exists_is_true": "EXISTS (...) IS TRUE is let pass",
    "refused_types/range_of_string": "string arguments of range are not evaluated",
    "refused_types/unknown_argument_name": "names of named arguments are not checked",
    "refused_types/cast_to_unknown_type": "NUMBER is read as DECIMAL",
    "refused_types/collated_comparison": "the strength of a collation is not modelled",
    "refused_frames/range_interval_of_two_kinds": "a sum of intervals is read as one of two units",
    "refused_group_all/alias_of_correlated_subquery_grouped_by_outer": (
        "that a correlated subquery must itself be grouped by is not checked"
    ),
    "refused_group_all/position_of_generator": "Spark counts positions without the generator",
    "refused_grouping_sets/cube_correlated": "a correlated filter below grouping sets is let pass",
    "refused_time_windows/window_time_of_nullable_struct": (
        "a struct that looks like a time window is taken for one"
    ),
    "refused_time_windows/window_time_of_first": "the first of time windows is taken for one",
}
"""Spark refuses these, and Rocky accepts them or says something else."""


def accepted_questions() -> list[Question]:
    """What Spark accepts, but for the gaps."""
    return [each for each in questions() if not each.refused and each.id not in ACCEPTED_GAPS]
