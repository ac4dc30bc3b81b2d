"""The registry of diagnostic codes: one row a code, never reused, never given a second meaning.

`Code` is a string enum, so a code compares and prints as "E003". The row beside it
holds what is constant: the name that reads well after "allow", the default severity,
and the one-line summary. The long text is `explanations/<code>.md`.
"""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is. Only errors fail a compile."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Code(StrEnum):
    """Every code Rocky can report."""

    INCOMPARABLE_TYPES = "E001"
    UNKNOWN_TABLE = "E002"
    UNKNOWN_COLUMN = "E003"
    AMBIGUOUS_COLUMN = "E004"
    TYPE_ERROR = "E005"
    UNKNOWN_FUNCTION = "E006"
    INVALID_AGGREGATION = "E007"
    SET_OPERATION_MISMATCH = "E008"
    SYNTAX_ERROR = "E009"
    CONTRACT_COLUMN_MISSING = "E010"
    CONTRACT_TYPE_MISMATCH = "E011"
    CONTRACT_NULLABLE = "E012"
    CONTRACT_PROTECTED_REMOVED = "E013"
    DUPLICATE_OUTPUT_COLUMN = "E014"
    DEPENDENCY_CYCLE = "E015"
    DUPLICATE_TARGET = "E016"
    UNUSABLE_FILE = "E017"
    UNUSABLE_CONFIG = "E018"
    UNSUPPORTED_STATEMENT = "E019"
    TIME_COLUMN_MISSING = "E020"
    TIME_COLUMN_TYPE = "E021"
    TIME_COLUMN_NULLABLE = "E022"
    TIME_COLUMN_NAME = "E023"
    TIME_RANGE_MISSING = "E024"
    TIME_GRAIN_TOO_FINE = "E025"
    FIRST_PARTITION_FORMAT = "E026"
    BUDGET_EXCEEDED = "E027"
    MISSING_VARIABLE = "E028"
    IMPORT_COLUMN_DROPPED = "E030"
    IMPORT_TYPE_CHANGED = "E031"
    IMPORT_NULLABILITY_CHANGED = "E032"
    IMPORT_PIN_DIFFERS = "E033"
    IMPORT_TOO_NEW = "E034"
    IMPORT_TABLE_REMOVED = "E035"
    IMPORT_READS_OTHERWISE = "E036"
    CONTRACT_EXTRA_COLUMN = "E037"
    CONTRACT_NEW_NULLABLE = "E038"
    INVALID_SUBQUERY = "E039"
    INVALID_CLAUSE = "E040"
    SETTING_COLUMN_MISSING = "E041"
    LIVE_COLUMN_MISSING = "E042"
    LIVE_TYPE_DIFFERS = "E043"
    LIVE_SOURCE_UNREADABLE = "E044"
    IMPORT_PROMISE_WITHDRAWN = "E045"
    VALUE_REFUSED = "E046"
    CODE_RAISED = "E047"
    SEED_VALUE = "E048"
    TAG_NOT_ALLOWED = "E050"
    UNKNOWN_TAG = "E051"
    DECLASSIFIED_NOTHING = "E052"
    CONTRACT_CLASSIFICATION = "E053"
    MASK_UNFIT = "E057"
    MASKED_AND_CLEAR = "E058"
    MASKED_KEY = "E059"
    UNUSABLE_FUNCTION = "E060"
    PUBLISHED_TAG = "E061"
    UNUSABLE_MACRO = "E070"
    UNKNOWN_MACRO = "E071"
    MACRO_ARGUMENT = "E072"
    MACRO_RECURSION = "E073"
    MACRO_CAPTURE = "E074"
    IMPLICIT_JOIN_CAST = "W001"
    TIME_RANGE_HALF = "W003"
    UNMASKED_TAG = "W004"
    SMALL_GROUPS = "W005"
    WRITTEN_VALUES = "W007"
    CONTRACT_COLUMN_ABSENT = "W010"
    CONTRACT_WITHOUT_MODEL = "W011"
    IMPORT_NOT_ACCEPTED = "W012"
    STRING_AGGREGATION = "W020"
    UNNAMED_OUTPUT = "W021"
    UNUSED_ALLOW = "W022"
    SHADOWED_NAME = "W023"
    BASELINE_MISSING = "W024"
    QUERY_NOT_UNDERSTOOD = "W025"
    LIVE_COLUMN_UNDECLARED = "W026"
    UNREPLACED_VARIABLE = "W027"
    TRACKED_CACHE = "W028"
    IMPORT_COLUMN_ADDED = "W030"
    IMPORT_TYPE_WIDENED = "W031"
    IMPORT_NULLABILITY_TIGHTENED = "W032"
    DIALECT_DIVERGENCE = "P001"
    SELECT_STAR = "P002"


@dataclass(frozen=True, slots=True)
class CodeInfo:
    """What is constant about a code.

    `suppressible` is False for findings on which Spark, or Rocky itself, would fail.
    """

    code: Code
    name: str
    summary: str
    severity: Severity = Severity.ERROR
    suppressible: bool = False


_W, _I = Severity.WARNING, Severity.INFO


def _lint(code: Code, name: str, summary: str) -> CodeInfo:
    """A warning that a project may allow, or raise to an error."""
    return CodeInfo(code, name, summary, _W, suppressible=True)


REGISTRY: tuple[CodeInfo, ...] = (
    CodeInfo(
        Code.INCOMPARABLE_TYPES,
        "incomparable-types",
        "a join or comparison of types that do not compare"
    ),
    CodeInfo(
        Code.UNKNOWN_TABLE,
        "unknown-table",
        "a table that is not a model, source or seed of the project"
    ),
    CodeInfo(Code.UNKNOWN_COLUMN, "unknown-column", "a column no relation in scope has"),
    CodeInfo(
        Code.AMBIGUOUS_COLUMN, "ambiguous-column", "a name that several columns in scope answer to"
    ),
    CodeInfo(Code.TYPE_ERROR, "type-error", "an operand or argument of a type Spark refuses"),
    CodeInfo(
        Code.UNKNOWN_FUNCTION,
        "unknown-function",
        "an unknown function or a wrong number of arguments"
    ),
    CodeInfo(
        Code.INVALID_AGGREGATION,
        "invalid-aggregation",
        "an aggregate, grouping or window where it cannot stand"
    ),
    CodeInfo(
        Code.SET_OPERATION_MISMATCH,
        "set-operation-mismatch",
        "UNION, INTERSECT or EXCEPT of branches that do not fit"
    ),
    CodeInfo(Code.SYNTAX_ERROR, "syntax-error", "text that is not Spark SQL"),
    CodeInfo(
        Code.CONTRACT_COLUMN_MISSING,
        "contract-column-missing",
        "a column the contract promises is not produced"
    ),
    CodeInfo(
        Code.CONTRACT_TYPE_MISMATCH,
        "contract-type-mismatch",
        "a column's type is not the promised one"
    ),
    CodeInfo(
        Code.CONTRACT_NULLABLE, "contract-nullable", "a column promised to be non-null can be null"
    ),
    CodeInfo(
        Code.CONTRACT_PROTECTED_REMOVED, "contract-protected-removed", "a protected column is gone"
    ),
    CodeInfo(
        Code.DUPLICATE_OUTPUT_COLUMN,
        "duplicate-output-column",
        "a model with two output columns of the same name"
    ),
    CodeInfo(Code.DEPENDENCY_CYCLE, "dependency-cycle", "models that form a cycle"),
    CodeInfo(
        Code.DUPLICATE_TARGET, "duplicate-target", "two models with the same name or target table"
    ),
    CodeInfo(
        Code.UNUSABLE_FILE,
        "unusable-file",
        "a model, source, seed or contract file that cannot be used"
    ),
    CodeInfo(
        Code.UNUSABLE_CONFIG, "unusable-config", "a setting in rocky.toml that cannot be used"
    ),
    CodeInfo(Code.UNSUPPORTED_STATEMENT, "unsupported-statement", "a model that is not one query"),
    CodeInfo(
        Code.TIME_COLUMN_MISSING, "time-column-missing", "the time column is not an output column"
    ),
    CodeInfo(
        Code.TIME_COLUMN_TYPE, "time-column-type", "the time column is not a date or timestamp"
    ),
    CodeInfo(Code.TIME_COLUMN_NULLABLE, "time-column-nullable", "the time column can be null"),
    CodeInfo(
        Code.TIME_COLUMN_NAME, "time-column-name", "the time column is not a plain identifier"
    ),
    CodeInfo(
        Code.TIME_RANGE_MISSING,
        "time-range-missing",
        "a time-interval model that never uses its interval"
    ),
    CodeInfo(
        Code.TIME_GRAIN_TOO_FINE, "time-grain-too-fine", "hourly intervals over a date column"
    ),
    CodeInfo(
        Code.FIRST_PARTITION_FORMAT,
        "first-partition-format",
        "a first partition not written in its grain's form"
    ),
    CodeInfo(
        Code.BUDGET_EXCEEDED,
        "budget-exceeded",
        "a run or model that takes, or is estimated to take, more than its budget"
    ),
    CodeInfo(Code.MISSING_VARIABLE, "missing-variable", "a variable in SQL that has no value"),
    CodeInfo(
        Code.IMPORT_COLUMN_DROPPED,
        "import-column-dropped",
        "another project dropped a column that this project reads"
    ),
    CodeInfo(
        Code.IMPORT_TYPE_CHANGED,
        "import-type-changed",
        "another project changed the type of a column that this project reads"
    ),
    CodeInfo(
        Code.IMPORT_NULLABILITY_CHANGED,
        "import-nullability-changed",
        "another project lets a column that this project reads be null"
    ),
    CodeInfo(
        Code.IMPORT_PIN_DIFFERS,
        "import-pin-differs",
        "an import whose interface is not the one it is pinned to"
    ),
    CodeInfo(
        Code.IMPORT_TOO_NEW,
        "import-too-new",
        "an interface file in a newer form than this Rocky reads"
    ),
    CodeInfo(
        Code.IMPORT_TABLE_REMOVED,
        "import-table-removed",
        "another project removed a table that this project reads"
    ),
    CodeInfo(
        Code.IMPORT_READS_OTHERWISE,
        "import-reads-otherwise",
        "another project moved or added a column, and a query means something else by it"
    ),
    CodeInfo(
        Code.CONTRACT_EXTRA_COLUMN,
        "contract-extra-column",
        "a column a strict contract does not list"
    ),
    CodeInfo(
        Code.CONTRACT_NEW_NULLABLE,
        "contract-new-nullable",
        "a column that became nullable since the baseline"
    ),
    CodeInfo(
        Code.INVALID_SUBQUERY, "invalid-subquery", "a subquery Spark cannot run where it stands"
    ),
    CodeInfo(Code.INVALID_CLAUSE, "invalid-clause", "a clause whose content Spark refuses"),
    CodeInfo(
        Code.SETTING_COLUMN_MISSING,
        "setting-column-missing",
        "a setting that names a column the model does not produce"
    ),
    CodeInfo(
        Code.LIVE_COLUMN_MISSING,
        "live-column-missing",
        "a declared column that the live source does not have"
    ),
    CodeInfo(
        Code.LIVE_TYPE_DIFFERS,
        "live-type-differs",
        "a declared column that has another type in the live source"
    ),
    CodeInfo(
        Code.LIVE_SOURCE_UNREADABLE,
        "live-source-unreadable",
        "a declared source that could not be looked at"
    ),
    CodeInfo(
        Code.IMPORT_PROMISE_WITHDRAWN,
        "import-promise-withdrawn",
        "another project withdrew what it promised of a table that this project reads"
    ),
    CodeInfo(
        Code.VALUE_REFUSED,
        "value-refused",
        "a value that an expression of a query cannot take, met when it ran"
    ),
    CodeInfo(
        Code.CODE_RAISED, "code-raised", "an exception of a Python model or of a function it uses"
    ),
    CodeInfo(
        Code.SEED_VALUE, "seed-value", "a cell of a seed that is not a value of its column's type"
    ),
    CodeInfo(Code.TAG_NOT_ALLOWED, "tag-not-allowed", "a column with a tag in a model where the tag is not allowed"),
    CodeInfo(Code.UNKNOWN_TAG, "unknown-tag", "a classification by a tag that is not declared"),
    CodeInfo(Code.DECLASSIFIED_NOTHING, "declassified-nothing", "a declassification of a column that does not have the tag"),
    CodeInfo(Code.CONTRACT_CLASSIFICATION, "contract-classification", "a column with a tag that its contract does not name"),
    CodeInfo(Code.MASK_UNFIT, "mask-unfit", "a mask that does not fit the type of a classified column"),
    CodeInfo(Code.MASKED_AND_CLEAR, "masked-and-clear", "masked and clear values in one column, under a mask that cannot be applied twice"),
    CodeInfo(Code.MASKED_KEY, "masked-key", "a masked column that the strategy of a model goes by"),
    CodeInfo(
        Code.UNUSABLE_FUNCTION, "unusable-function", "a declared function that Spark could not make"
    ),
    CodeInfo(Code.PUBLISHED_TAG, "published-tag", "a column with a tag that is published in clear"),
    CodeInfo(
        Code.UNUSABLE_MACRO, "unusable-macro", "a macro that is not declared as one should be"
    ),
    CodeInfo(Code.UNKNOWN_MACRO, "unknown-macro", "a call of a macro that does not exist"),
    CodeInfo(
        Code.MACRO_ARGUMENT,
        "macro-argument",
        "a call of a macro with arguments that it does not take"
    ),
    CodeInfo(Code.MACRO_RECURSION, "macro-recursion", "macros that call each other in a circle, or grow without end"),
    CodeInfo(
        Code.MACRO_CAPTURE,
        "macro-capture",
        "a name that would mean something else inside a macro than outside of it"
    ),
    _lint(Code.IMPLICIT_JOIN_CAST, "implicit-join-cast", "join keys that are comparable only through an unsafe cast"),
    _lint(Code.TIME_RANGE_HALF, "time-range-half", "only one end of the interval is used"),
    CodeInfo(Code.UNMASKED_TAG, "unmasked-tag", "a tag that columns of models have and nothing masks", _W),
    _lint(Code.SMALL_GROUPS, "small-groups", "a tag that ends in groups which may be of few rows"),
    _lint(Code.WRITTEN_VALUES, "written-values", "a test that writes down values of a column with a tag"),
    _lint(Code.CONTRACT_COLUMN_ABSENT, "contract-column-absent", "an optional contract column is not produced"),
    _lint(Code.CONTRACT_WITHOUT_MODEL, "contract-without-model", "a contract for a model that does not exist"),
    _lint(Code.IMPORT_NOT_ACCEPTED, "import-not-accepted", "an import whose interface nobody has accepted yet"),
    _lint(Code.STRING_AGGREGATION, "string-aggregation", "an arithmetic aggregate of a string"),
    _lint(Code.UNNAMED_OUTPUT, "unnamed-output", "an output expression without an alias"),
    _lint(Code.UNUSED_ALLOW, "unused-allow", "an allow that allows nothing"),
    _lint(Code.SHADOWED_NAME, "shadowed-name", "a model that hides a source or seed of its name"),
    _lint(Code.BASELINE_MISSING, "baseline-missing", "a contract that compares with a baseline nobody recorded"),
    _lint(Code.QUERY_NOT_UNDERSTOOD, "query-not-understood", "a query Rocky cannot work out, by a fault of its own"),
    CodeInfo(
        Code.LIVE_COLUMN_UNDECLARED,
        "live-column-undeclared",
        "a column of the live source that its declaration does not list",
        _W
    ),
    _lint(Code.UNREPLACED_VARIABLE, "unreplaced-variable", "`${...}` in the quotes of a query, where nothing replaces it"),
    CodeInfo(Code.TRACKED_CACHE, "tracked-cache", "a file in `.rocky/cache` that git tracks", _W),
    CodeInfo(
        Code.IMPORT_COLUMN_ADDED,
        "import-column-added",
        "a column that another project added and a star includes",
        _I,
        suppressible=True
    ),
    _lint(Code.IMPORT_TYPE_WIDENED, "import-type-widened", "another project widened the type of a column that this project reads"),
    CodeInfo(
        Code.IMPORT_NULLABILITY_TIGHTENED,
        "import-nullability-tightened",
        "another project made a column that this project reads NOT NULL",
        _I,
        suppressible=True
    ),
    CodeInfo(
        Code.DIALECT_DIVERGENCE,
        "dialect-divergence",
        "a function or form that a target of `[portability]` lacks or reads otherwise",
        suppressible=True
    ),
    _lint(Code.SELECT_STAR, "select-star", "a model that ends in SELECT * and has readers"),
)

BY_CODE: dict[str, CodeInfo] = {row.code.value: row for row in REGISTRY}
FORMER: dict[str, CodeInfo] = {
    "w006": BY_CODE[Code.SETTING_COLUMN_MISSING],
    "merge-key-missing": BY_CODE[Code.SETTING_COLUMN_MISSING],
}
"""Codes and names of earlier releases, in lower case, with the codes that replace them."""


def severity_of(code: Code) -> Severity:
    """The severity a code has unless the project says otherwise."""
    return BY_CODE[code.value].severity
