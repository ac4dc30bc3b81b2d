"""Every promise of a contract: one model that breaks it and a near miss that keeps it."""

import pytest

from rocky.analysis.contracts import Baseline, check_contract
from rocky.diagnostics import Severity
from rocky.diagnostics.diagnostic import Span
from rocky.language.ir import Edge
from tests.analysis.contracts.outputs import codes, labels, load_files, output_of, place

MODEL = "models/m.sql"
CONTRACT = "contracts/m.contract.toml"


def check(tmp_path, sql, contract, schema, baseline=None, source_nullable=None, **ir):
    project = load_files(tmp_path, {MODEL: sql, CONTRACT: contract})
    assert () == project.diagnostics
    model = project.models["m"]
    output = output_of(model.sql, schema, **ir)
    more = {} if source_nullable is None else {"source_nullable": source_nullable}
    return project, check_contract(project.contracts["m"], model, output, baseline, **more)


def column(name, **promise):
    lines = [f"{key} = {value!r}" for key, value in promise.items() if isinstance(value, str)]
    lines += [
        f"{key} = {str(value).lower()}" for key, value in promise.items() if isinstance(value, bool)
    ]
    return "\n".join(["[[columns]]", f'name = "{name}"', *lines, ""])


# ------------------------------------------------------------------ presence


def test_a_required_column_that_is_not_produced_is_reported_at_the_contract(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT order_id FROM raw.orders",
        '[rules]\nrequired = ["order_id", "amount"]\n',
        "order_id bigint",
    )

    assert "E010" == found.code
    assert Severity.ERROR is found.severity
    assert "m" == found.model
    assert (
        "model `m` does not produce column `amount`, which its contract requires" == found.message
    )
    assert (CONTRACT, '"amount"') == place(project, found)
    assert [(MODEL, None, "it produces `order_id`")] == labels(project, found)
    assert "produce the column, or take it out of `required` if its readers agree" == found.help


def test_a_missing_column_points_at_the_produced_one_of_a_like_name(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT order_id, amuont FROM raw.orders",
        '[rules]\nrequired = ["amount"]\n',
        "order_id bigint, amuont int",
    )

    assert [(MODEL, "amuont", "it produces `amuont`")] == labels(project, found)
    assert found.help.startswith("if `amuont` is the same column, name it `amount` with `AS`")


def test_a_required_column_in_another_case_is_produced(tmp_path):
    _, found = check(
        tmp_path, "SELECT Order_ID FROM t", '[rules]\nrequired = ["order_id"]\n', "Order_ID int"
    )

    assert [] == found


def test_a_missing_column_is_no_evidence_when_the_output_is_not_known(tmp_path):
    contract = column("c") + '[rules]\nrequired = ["b"]\nprotected = ["b"]\n'
    _, found = check(tmp_path, "SELECT a FROM t", contract, "a int", known=False)

    assert [] == found


def test_a_protected_column_that_is_gone_is_reported_at_the_contract(tmp_path):
    project, (found,) = check(
        tmp_path, "SELECT a FROM t", '[rules]\nprotected = ["customer"]\n', "a int"
    )

    assert "E013" == found.code
    assert (CONTRACT, '"customer"') == place(project, found)
    assert "no longer produces column `customer`" in found.message


def test_a_protected_column_that_is_there_is_quiet(tmp_path):
    _, found = check(tmp_path, "SELECT a FROM t", '[rules]\nprotected = ["A"]\n', "a int")

    assert [] == found


def test_a_described_column_that_is_absent_is_an_error(tmp_path):
    project, (found,) = check(
        tmp_path, "SELECT a FROM t", column("a") + column("customer"), "a int"
    )

    assert ("E010", Severity.ERROR) == (found.code, found.severity)
    assert (CONTRACT, '"customer"') == place(project, found)
    assert "optional = true" in found.help


def test_an_optional_column_that_is_absent_is_a_warning(tmp_path):
    contract = column("a") + column("customer") + "optional = true\n"
    project, (found,) = check(tmp_path, "SELECT a FROM t", contract, "a int")

    assert ("W010", Severity.WARNING) == (found.code, found.severity)
    assert (CONTRACT, '"customer"') == place(project, found)


def test_a_listed_column_that_is_required_is_not_also_reported_as_optional(tmp_path):
    contract = column("customer") + '[rules]\nrequired = ["customer"]\n'
    _, found = check(tmp_path, "SELECT a FROM t", contract, "a int")

    assert ["E010"] == codes(found)


def test_a_column_that_a_strict_contract_does_not_list_is_reported_in_the_query(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT a, extra FROM t",
        column("a") + "[rules]\nstrict = true\n",
        "a int, extra string",
    )

    assert "E037" == found.code
    assert (MODEL, "extra") == place(project, found)
    assert [(CONTRACT, "true", "the contract is strict")] == labels(project, found)
    assert (
        "model `m` produces column `extra` of type `string`,"
        " which its strict contract does not list" == found.message
    )


def test_a_strict_contract_knows_the_columns_its_rules_name(tmp_path):
    contract = column("A") + '[rules]\nstrict = true\nrequired = ["b"]\nprotected = ["c"]\n'
    _, found = check(tmp_path, "SELECT a, b, c FROM t", contract, "a int, b int, c int")

    assert [] == found


def test_a_contract_that_is_not_strict_allows_more_columns(tmp_path):
    _, found = check(tmp_path, "SELECT a, b FROM t", column("a"), "a int, b int")

    assert [] == found


# ------------------------------------------------------------------ types


def test_another_type_is_reported_at_the_column_with_the_promise_as_its_label(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT amount FROM t",
        column("amount", type="decimal(18,2)"),
        "amount double",
        edges={"amount": (Edge("t", "amount", "direct"),)},
    )

    assert "E011" == found.code
    assert (
        "column `amount` of model `m` is `double`, its contract promises `decimal(18,2)`"
        == found.message
    )
    assert (MODEL, "amount") == place(project, found)
    assert [(CONTRACT, "'decimal(18,2)'", "promised as `decimal(18,2)`")] == labels(project, found)
    assert "write `CAST(amount AS decimal(18,2)) AS amount`, or promise `double`" == found.help


@pytest.mark.parametrize(
    ("promised", "actual"),
    [
        ("decimal(18,2)", "decimal(19,2)"),
        ("decimal(18,2)", "decimal(18,3)"),
        ("int", "bigint"),
        ("string", "void"),
        ("timestamp", "timestamp_ntz"),
        ("array<int>", "array<bigint>"),
        ("map<string,int>", "map<string,string>"),
        ("string", "string collate UNICODE_CI"),
        ("interval day to second", "interval day to hour"),
    ],
)
def test_types_are_compared_exactly(tmp_path, promised, actual):
    _, found = check(tmp_path, "SELECT a FROM t", column("a", type=promised), f"a {actual}")

    assert ["E011"] == codes(found)


@pytest.mark.parametrize(
    ("promised", "actual", "difference"),
    [
        (
            "struct<id:int,lines:array<struct<sku:string,price:decimal(18,2)>>>",
            "struct<id:int,lines:array<struct<sku:string,price:double>>>",
            "`a.lines.element.price` is `double`, promised `decimal(18,2)`",
        ),
        ("struct<x:int,y:int>", "struct<x:int>", "`a` has no field `y`, promised `int`"),
        ("struct<x:int>", "struct<x:int,z:int>", "`a` has a field `z` that is not promised"),
        ("struct<x:int,y:int>", "struct<y:int,x:int>", "`a` has `y` as field 1, promised `x`"),
        (
            "map<string,array<int>>",
            "map<string,array<bigint>>",
            "`a.value.element` is `bigint`, promised `int`",
        ),
    ],
)
def test_the_first_differing_part_of_a_nested_type_is_named(tmp_path, promised, actual, difference):
    _, (found,) = check(tmp_path, "SELECT a FROM t", column("a", type=promised), f"a {actual}")

    assert f"column `a` of model `m` is not of the promised type: {difference}" == found.message
    assert (f"promised: `{promised}`", f"actual: `{actual}`") == found.notes


def test_struct_fields_are_compared_without_case(tmp_path):
    promise = column("A", type="struct<Id:int,name:string>")
    _, found = check(tmp_path, "SELECT a FROM t", promise, "a struct<id:int,NAME:string>")

    assert [] == found


def test_an_unknown_type_breaks_no_promise(tmp_path):
    promise = column("a", type="int", nullable=False)
    _, found = check(tmp_path, "SELECT a FROM t", promise, "a string", unknown=("a",))

    assert [] == found


def test_a_promised_length_is_explained_because_no_cast_would_keep_it(tmp_path):
    _, (found,) = check(tmp_path, "SELECT a FROM t", column("a", type="varchar(10)"), "a string")

    assert "E011" == found.code
    assert found.help.startswith("promise `string`")


def test_a_cast_that_spark_refuses_is_not_offered(tmp_path):
    _, (found,) = check(tmp_path, "SELECT a FROM t", column("a", type="int"), "a array<int>")

    assert (
        "produce a `int` (no cast from `array<int>` exists), or promise `array<int>`" == found.help
    )


def test_a_cast_that_can_give_null_says_so_where_null_is_ruled_out(tmp_path):
    promise = column("a", type="int", nullable=False)
    _, (found,) = check(tmp_path, "SELECT a FROM t", promise, "a string not null")

    assert "E011" == found.code
    assert "so wrap it in `coalesce`" in found.help


def test_a_column_through_a_star_is_reported_at_the_star(tmp_path):
    project, (found,) = check(tmp_path, "SELECT * FROM t", column("id", type="int"), "id string")

    assert (MODEL, "*") == place(project, found)


def test_a_column_without_any_place_is_reported_at_the_contract(tmp_path):
    project, (found,) = check(tmp_path, "FROM t", column("id", type="int"), "id string")

    assert (CONTRACT, "'int'") == place(project, found)
    assert [(MODEL, None, "the model")] == labels(project, found)


def test_a_place_in_a_model_with_front_matter_is_in_the_file(tmp_path):
    sql = "---toml\nintent = 'x'\n---\nSELECT amount FROM t"
    project, (found,) = check(tmp_path, sql, column("amount", type="int"), "amount string")

    assert (MODEL, "amount") == place(project, found)


# ------------------------------------------------------------------ nullability


def test_a_nullable_column_that_is_promised_never_null_is_reported_in_the_query(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT amount FROM raw.orders",
        column("amount", type="decimal(18,2)", nullable=False),
        "amount decimal(18,2)",
        edges={"amount": (Edge("raw.orders", "amount", "direct"),)},
        source_nullable=lambda table, name: True,
    )

    assert "E012" == found.code
    assert (
        "column `amount` of model `m` can be null, its contract promises it never is"
        == found.message
    )
    assert (MODEL, "amount") == place(project, found)
    assert [(CONTRACT, "false", "promised never null")] == labels(project, found)
    assert (
        "`raw.orders.amount` can be null: write `coalesce(amount, 0.00) AS amount`, or make it"
        " never null in `raw.orders`, or promise `nullable = true`" == found.help
    )


def test_a_null_from_a_join_is_told_from_a_null_of_the_source(tmp_path):
    _, (found,) = check(
        tmp_path,
        "SELECT c.name FROM t LEFT JOIN c USING (id)",
        column("name", nullable=False),
        "name string",
        edges={"name": (Edge("c", "name", "direct"),)},
        source_nullable=lambda table, name: False,
    )

    assert "`c.name` is never null, but an outer join" in found.help
    assert "use an inner join, or write `coalesce(name, '') AS name`" in found.help


@pytest.mark.parametrize(
    ("kind", "cause"),
    [
        ("aggregate", "an aggregate of no rows is null"),
        ("conditional", "a branch can be null or is missing"),
    ],
)
def test_the_advice_about_a_null_names_its_cause(tmp_path, kind, cause):
    _, (found,) = check(
        tmp_path,
        "SELECT total FROM t",
        column("total", nullable=False),
        "total bigint",
        edges={"total": (Edge("t", "a", kind), Edge("t", "b", "direct"))},
    )

    assert found.help.startswith(f"{cause}: write `coalesce(..., 0) AS total`")


def test_a_column_that_is_never_null_keeps_its_promise(tmp_path):
    contract = column("a", nullable=False) + column("b", nullable=True) + column("c")
    _, found = check(tmp_path, "SELECT a, b, c", contract, "a int not null, b int not null, c int")

    assert [] == found


def test_a_nullable_column_is_not_claimed_when_the_output_is_not_known(tmp_path):
    _, found = check(tmp_path, "SELECT a", column("a", nullable=False), "a int", known=False)

    assert [] == found


def test_a_nested_part_is_held_to_not_null_only_where_the_contract_says_so(tmp_path):
    promise = column("a", type="array<struct<x:int not null,y:int>>")
    actual = "a array<struct<x:int,y:int>>"
    project, (found,) = check(tmp_path, "SELECT a FROM t", promise, actual)

    assert "E012" == found.code
    assert (
        "`a.element.x` in column `a` of model `m` can be null, its contract promises it `NOT NULL`"
        == found.message
    )
    assert [(CONTRACT, "'array<struct<x:int not null,y:int>>'")] == [
        each[:2] for each in labels(project, found)
    ]


def test_a_nested_part_may_be_less_nullable_than_promised(tmp_path):
    promise = column("a", type="struct<x:int>")
    _, found = check(tmp_path, "SELECT a FROM t", promise, "a struct<x:int not null>")

    assert [] == found


# ------------------------------------------------------------------ baselines

NO_NEW_NULLABLE = "[rules]\nno_new_nullable = true\n"


def baseline(**nullable):
    return Baseline("contracts/m.baseline.json", nullable, {name: Span(0, 1) for name in nullable})


def test_a_column_that_became_nullable_is_reported_with_the_rule_and_the_record(tmp_path):
    project, (found,) = check(
        tmp_path,
        "SELECT Total FROM t",
        NO_NEW_NULLABLE,
        "Total int",
        baseline=baseline(total=False),
    )

    assert "E038" == found.code
    assert (MODEL, "Total") == place(project, found)
    assert [CONTRACT, "contracts/m.baseline.json"] == [label.path for label in found.labels]
    assert "rocky compile --record-baselines" in found.help


def test_a_column_that_was_nullable_or_is_new_may_be_nullable(tmp_path):
    _, found = check(
        tmp_path,
        "SELECT a, b, c FROM t",
        NO_NEW_NULLABLE,
        "a int, b int, c int not null",
        baseline=baseline(a=True, c=False),
    )

    assert [] == found


def test_a_broken_promise_is_not_reported_again_against_the_baseline(tmp_path):
    contract = column("a", nullable=False) + NO_NEW_NULLABLE
    _, found = check(tmp_path, "SELECT a", contract, "a int", baseline=baseline(a=False))

    assert ["E012"] == codes(found)


def test_a_rule_without_a_baseline_is_a_warning_that_says_how_to_record_one(tmp_path):
    project, (found,) = check(tmp_path, "SELECT a", NO_NEW_NULLABLE, "a int")

    assert ("W024", Severity.WARNING) == (found.code, found.severity)
    assert (CONTRACT, "true") == place(project, found)
    assert "run `rocky compile --record-baselines` and commit the file it writes" == found.help


def test_a_contract_without_the_rule_needs_no_baseline(tmp_path):
    _, found = check(tmp_path, "SELECT a", column("a"), "a int")

    assert [] == found
