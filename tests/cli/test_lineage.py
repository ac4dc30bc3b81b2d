import json
from xml.etree import ElementTree as ET

import pytest

from rocky.cli.console import ExitCode

FILES = {
    "models/a.sql": "SELECT order_id, amount * 2 AS doubled FROM raw.orders WHERE status = 'open'\n",
    "models/b.sql": "SELECT sum(doubled) AS total FROM a GROUP BY order_id\n",
}


def test_a_column_is_traced_to_its_sources(rocky, write):
    write(FILES)
    document = rocky("lineage", "b.total").json

    assert ("b", "total", "upstream") == (
        document["model"],
        document["column"],
        document["direction"],
    )
    assert [
        ("a.doubled", "b.total", "aggregate"),
        ("raw.orders.amount", "a.doubled", "expression"),
    ] == [
        (
            f"{hop['source']['model']}.{hop['source']['column']}",
            f"{hop['target']['model']}.{hop['target']['column']}",
            hop["transform"],
        )
        for hop in document["trace"]
    ]
    assert {("raw.orders", "status", "a", "filter"), ("a", "order_id", "b", "group")} == {
        (row["source"]["model"], row["source"]["column"], row["target"]["model"], row["role"])
        for row in document["influences"]
    }


def test_a_source_has_dots_in_its_name_and_so_has_a_column_of_it(rocky, write):
    write(FILES)
    source = rocky("lineage", "raw.orders").json
    column = rocky("lineage", "RAW.orders.Amount", "--downstream").json

    assert ("raw.orders", [], ["a"]) == (source["model"], source["upstream"], source["downstream"])
    assert ("raw.orders", "amount", "downstream") == (
        column["model"],
        column["column"],
        column["direction"],
    )
    assert [{"model": "a", "column": "doubled"}, {"model": "b", "column": "total"}] == column[
        "downstream_consumers"
    ]


def test_the_column_may_be_an_option(rocky, write):
    write(FILES)

    assert rocky("lineage", "b.total").out == rocky("lineage", "b", "--column", "total").out


def test_a_column_named_twice_must_be_one_column(rocky, write):
    write(FILES)
    agreed = rocky("lineage", "b.total", "--column", "Total")
    other = rocky("lineage", "b.total", "--column", "order_id")

    assert rocky("lineage", "b.total").out == agreed.out
    assert ExitCode.FAILED == other.code
    assert {
        "kind": "UsageError",
        "message": "`b.total` names the column `total` and `--column` names `order_id`:"
        " leave one of them out",
    } == other.json["error"]


def test_both_ways_can_be_asked_for(rocky, write):
    write(FILES)
    document = rocky("lineage", "a.doubled", "--upstream", "--downstream").json

    assert "both" == document["direction"]
    assert 2 == len(document["trace"])


def test_a_model_is_shown_with_its_neighbours_and_hops(rocky, write):
    write(FILES)
    document = rocky("lineage", "a").json

    assert (["raw.orders"], ["b"]) == (document["upstream"], document["downstream"])
    assert 3 == len(document["edges"])
    assert {"a", "b", "raw.orders"} == {node["model"] for node in document["nodes"]}


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("c", "no model, source or seed `c`"),
        ("raw.order", "no model, source or seed `raw.order`; did you mean `raw.orders`?"),
        ("a.doubeld", "no column `doubeld`; did you mean `doubled`? (in model `a`)"),
        ("raw.order.amount", "did you mean `raw.orders.amount`?"),
    ],
)
def test_what_does_not_exist_is_an_error_with_the_nearest_name(rocky, write, target, message):
    write(FILES)
    answer = rocky("lineage", target)

    assert ExitCode.FAILED == answer.code
    assert message in answer.json["error"]["message"]


def test_the_text_of_a_column_is_a_tree(rocky, write):
    write(FILES)

    assert (
        "b.total  decimal(24,2), nullable\n"
        "└─ a.doubled  (aggregate)\n"
        "   └─ raw.orders.amount  (expression)\n"
    ) == rocky("lineage", "b.total", "-o", "table").out.partition("\nrows decided")[0]


def test_a_column_reached_twice_is_opened_once(rocky, write):
    write(
        {
            "models/a.sql": "SELECT amount AS x, amount AS y FROM raw.orders\n",
            "models/b.sql": "SELECT x + y AS z FROM a\n",
            "models/c.sql": "SELECT z AS p, z AS q FROM b\n",
            "models/d.sql": "SELECT p + q AS r FROM c\n",
        }
    )
    out = rocky("lineage", "d.r", "-o", "table").out

    assert 1 == out.count("(see above)")
    assert 2 == out.count("b.z")


def test_a_model_can_be_drawn(rocky, write):
    write(FILES)
    dot, mermaid = (
        rocky("lineage", "a", "--format", "dot"),
        rocky("lineage", "a", "--format", "mermaid"),
    )

    assert (
        "digraph lineage {\n"
        "  rankdir=LR;\n"
        "  node [shape=box];\n"
        '  "raw.orders" -> "a";\n'
        '  "a" -> "b";\n'
        "}\n"
    ) == dot.out
    assert (
        'flowchart LR\n  n0["raw.orders"]\n  n1["a"]\n  n2["b"]\n  n0 --> n1\n  n1 --> n2\n'
    ) == mermaid.out


def test_a_column_can_be_drawn_with_the_kinds_on_the_edges(rocky, write):
    write(FILES)

    assert (
        '"a.doubled" -> "b.total" [label="aggregate"];'
        in rocky("lineage", "b.total", "--format", "dot").out
    )
    assert '-->|"aggregate"|' in rocky("lineage", "b.total", "--format", "mermaid").out


def test_a_format_and_json_cannot_both_be_asked_for(rocky, write):
    write(FILES)
    answer = rocky("lineage", "a", "--format", "dot", "-o", "json")

    assert ExitCode.FAILED == answer.code
    assert "UsageError" == json.loads(answer.out)["error"]["kind"]


def test_a_broken_model_has_lineage_as_far_as_it_is_known(rocky, write):
    write({"models/a.sql": "SELECT order_id, nope FROM raw.orders\n"})

    assert ExitCode.OK == rocky("lineage", "a.order_id").code


def test_without_a_target_it_is_the_whole_project(rocky, write):
    write(FILES)
    text = rocky("lineage", "--format", "text").out
    assert ["NAME", "KIND", "READS", "READ", "BY"] == text.splitlines()[0].split()
    assert ["a", "model", "raw.orders", "b"] == text.splitlines()[1].split()

    document = rocky("lineage").json
    assert {"source": "a", "target": "b"} in document["edges"]
    assert "a" in [each["model"] for each in document["nodes"]]
    assert ExitCode.OK != rocky("lineage", "--upstream").code


def test_a_graph_is_drawn(rocky, write):
    write(FILES)
    for target in ([], ["b"], ["b.total"]):
        text = rocky("lineage", *target, "--format", "svg").out
        assert ET.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"


def test_what_would_break_is_listed_with_its_errors_and_exits_with_0(rocky, write):
    write({**FILES, "models/c.sql": "SELECT order_id FROM raw.orders WHERE amount > 1\n"})
    wrong = rocky("-o", "table", "lineage", "raw.orders.amount", "--if-type", "array<int>")
    column = ("lineage", "raw.orders", "--column", "amount")
    nullable = rocky("-o", "table", *column, "--if-type", "bigint")

    assert (ExitCode.OK, ExitCode.OK) == (wrong.code, nullable.code)
    assert wrong.out == (
        "raw.orders.amount  decimal(12,2), nullable -> array<int>, nullable\n"
        "\n"
        "2 models would not compile:\n"
        "  a\n"
        "    models/a.sql:1:18: error[E005] the sides of `*` have no common type:"
        " `array<int>` and `int`\n"
        "  c\n"
        "    models/c.sql:1:39: error[E001] the sides of `>` have no common type:"
        " `array<int>` and `int`\n"
        "\n"
        "1 model could be judged only when these are mended:\n"
        "  b: total\n"
    )
    assert nullable.out == (
        "raw.orders.amount  decimal(12,2), nullable -> bigint, nullable\n"
        "\n"
        "Everything would compile as it does now.\n"
        "\n"
        "2 models would have other columns:\n"
        "  a\n"
        "    doubled: decimal(14,2), nullable -> bigint, nullable\n"
        "  b\n"
        "    total: decimal(24,2), nullable -> bigint, nullable\n"
        "\n"
        "Also reached, without a difference to the compiler:\n"
        "  c\n"
    )


def test_a_column_that_is_dropped_is_told_to_programs(rocky, write):
    write(FILES)
    document = rocky("lineage", "a.doubled", "--if-dropped").json

    assert (None, ["b"]) == (
        document["supposed"]["after"],
        [each["model"] for each in document["broken"]],
    )
    (error,) = document["broken"][0]["errors"]
    assert ("E003", "models/b.sql", 1) == (
        error["code"],
        error["span"]["file"],
        error["span"]["line"],
    )


@pytest.mark.parametrize(
    "more", [["--upstream"], ["--downstream"], ["--classification", "pii"], ["--format", "dot"]]
)
def test_what_would_break_goes_with_no_other_question(rocky, write, more):
    write(FILES)
    refused = rocky("-o", "table", "lineage", "raw.orders.amount", "--if-nullable", *more)

    assert ExitCode.FAILED == refused.code
    assert f"`{' '.join(more) if more[0] == '--format' else more[0]}` does not go" in refused.err
