"""Queries of the corpus on which Rocky and Spark are known to differ, each with why.

A gap that closes fails its test, so that this list can only shrink on purpose.
"""

from tests.corpus.questions import Question, questions

ACCEPTED_GAPS = {
    "sketches/function_forms_of_operators": "`when(...)` as a function: the parser library reads CASE",
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
    "refused_types/two_time_windows": "several time windows in one query are let pass",
}
"""Spark refuses these, and Rocky accepts them or says something else."""


def accepted_questions() -> list[Question]:
    """What Spark accepts, but for the gaps."""
    return [each for each in questions() if not each.refused and each.id not in ACCEPTED_GAPS]
