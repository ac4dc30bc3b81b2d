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
    "arguments/cms_named_distinct": "the library reads no `=>` after DISTINCT",
    "arguments/generator_in_partition": "a generator in PARTITION BY is refused; no such query can run",
    "arguments/generator_stack_expression": "the count of `stack` is a literal; others are unknown",
    "arguments/named_on_cast": "`int(x => 1)`: a cast by its type's name takes no named argument",
    "arguments/named_on_struct": "the type of a named argument of `struct` is unknown",
    "inline_tables/statement_cte": "the library takes no VALUES after WITH",
    "inline_tables/struct_bare": "the last bare struct takes the table's alias for its own",
    "lambdas/transform_in_group_by_renamed": "lambdas are told apart by their parameters' names",
    "pipe_steps/set_generator": "the type of a generator in |> SET is unknown",
    "recursion/cte_dup_case": "names of CTEs that differ in case are taken for one",
    "recursion/identifier_concat": "the table must be known before the run, so its name is written",
    "recursion/identifier_function": "the library reads no call of what IDENTIFIER names",
    "stars/star_substr": "the library reads the arguments of SUBSTR one by one",
    "stars/star_trim": "the library reads the argument of TRIM by itself",
    "stars/star_without_from": "a query without columns makes no table, and is refused on purpose",
}
"""Spark accepts these, and Rocky refuses or types them otherwise."""

REFUSED_GAPS = {
    "refused_syntax/not_equal_spelt_wrong": "`=!` is read as `= NOT`",
    "refused_syntax/nested_on_after_on": "the parser library takes ON clauses in any order",
    "refused_syntax/over_without_parentheses": "OVER without a window is read as an empty one",
    "refused_syntax/frame_without_order_of_bounds": "BETWEEN without AND is completed by the library",
    "refused_syntax/exists_is_true": "EXISTS (...) IS TRUE is let pass",
    "refused_types/range_of_string": "string arguments of range are not evaluated",
    "refused_types/cast_to_unknown_type": "NUMBER is read as DECIMAL",
    "refused_types/collated_comparison": "the strength of a collation is not modelled",
    "refused_frames/range_interval_of_two_kinds": "a sum of intervals is read as one of two units",
    "refused_group_all/position_of_generator": "Spark counts positions without the generator",
    "refused_grouping_sets/cube_correlated": "a correlated filter below grouping sets is let pass",
    "refused_time_windows/window_time_of_nullable_struct": (
        "a struct that looks like a time window is taken for one"
    ),
    "refused_time_windows/window_time_of_first": "the first of time windows is taken for one",
    "refused_arguments/generator_of_window": "Spark falls over a generator of a window function",
    "refused_arguments/mask_arrow_value_expression": "the length of a mask is not evaluated",
    "refused_arguments/mask_long_char": "the length of a mask is not checked",
    "refused_arguments/named_table_argument": "TABLE(...) as an argument is an unknown",
    "refused_arguments/table_function_aggregate_argument": "aggregates in a table function pass",
    "refused_arguments/table_function_sample": "a sample of a table function is let pass",
    "refused_correlation/exists_beside_aggregate_not_key": "what EXISTS reads may be ungrouped",
    "refused_correlation/exists_equals": "EXISTS (...) = true is let pass",
    "refused_inline_tables/alias_typed": "types in an alias list are read over",
    "refused_inline_tables/cast_bad": "constants are not evaluated",
    "refused_inline_tables/division_by_zero": "constants are not evaluated",
    "refused_inline_tables/element_missing": "constants are not evaluated",
    "refused_inline_tables/overflow_int": "constants are not evaluated",
    "refused_inline_tables/statement_order_bad": "ORDER BY of a VALUES statement is not checked",
    "refused_inline_tables/statement_where": "WHERE after a VALUES statement is read over",
    "refused_inline_tables/to_date_bad": "constants are not evaluated",
    "refused_intervals/interval_cast_bad_type": "ranges of interval types are not checked",
    "refused_intervals/sign_twice_number": "two signs before an interval are let pass",
    "refused_intervals/text_no_space": "the library parts `1day` into number and unit",
    "refused_intervals/time_minus_time": "TIME is known; Spark refuses it by a setting",
    "refused_intervals/time_plus_interval": "TIME is known; Spark refuses it by a setting",
    "refused_lambdas/lambda_group_missing": "columns inside a lambda may be ungrouped",
    "refused_lambdas/lambda_no_group_missing": "columns inside a lambda may be ungrouped",
    "refused_lambdas/lambda_parens": "`(x) -> x` is read as `x -> x`",
    "refused_lambdas/transform_of_aggregate_not_key": "columns inside a lambda may be ungrouped",
    "refused_pipe_steps/drop_star": "|> DROP * is let pass",
    "refused_pipe_steps/extend_generator_two": "a generator of two columns in |> EXTEND is let pass",
    "refused_pipe_steps/sample_percent_bad": "the percentage of a piped sample is not checked",
    "refused_recursion/builtin_qualified": "functions qualified with `builtin` are let pass",
    "refused_recursion/max_level_not_recursive": "a bound on what is not recursive is let pass",
    "refused_shared_names/union_cte_inside": "WITH in a branch without parentheses is let pass",
    "refused_shared_names/union_middle_limit": "LIMIT in a middle branch is let pass",
    "refused_stars/agg_first_star": "`first(*)` is let pass",
    "refused_stars/group_number_star": "a position may point at a function of `*`",
}
"""Spark refuses these, and Rocky accepts them or says something else."""


def accepted_questions() -> list[Question]:
    """What Spark accepts, but for the gaps."""
    return [each for each in questions() if not each.refused and each.id not in ACCEPTED_GAPS]
