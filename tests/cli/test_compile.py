import pytest

from rocky.cli.console import ExitCode

TWO = {
    "models/good.sql": "SELECT order_id, amount FROM raw.orders\n",
    "models/bad.sql": "SELECT nope FROM raw.orders\n",
    "models/reader.sql": "SELECT good.order_id FROM good\n",
}


def test_findings_are_drawn_at_their_line_and_summed_up(rocky, write):
    write(TWO)
    answer = rocky("compile", "-o", "table")

    assert ExitCode.FAILED == answer.code
    assert "error[E003 unknown-column]: no column `nope` in scope" in answer.out
    assert " --> models/bad.sql:1:8" in answer.out
    assert "1 error in 3 models, 4 columns" in answer.out


def test_a_project_without_findings_says_so(rocky, write):
    write({"models/good.sql": TWO["models/good.sql"]})
    answer = rocky("compile", "-o", "table")

    assert (ExitCode.OK, "no errors in 1 model, 2 columns\n") == (answer.code, answer.out)


def test_a_model_narrows_the_report_and_the_exit_code(rocky, write):
    write(TWO)
    good, bad = rocky("compile", "--model", "GOOD"), rocky("compile", "--model", "bad")

    assert (ExitCode.OK, []) == (good.code, good.json["diagnostics"])
    assert ["good"] == [model["name"] for model in good.json["models"]]
    assert (ExitCode.FAILED, 1) == (bad.code, len(bad.json["diagnostics"]))
    assert 1 == good.json["summary"]["models"]


def test_a_model_may_be_named_by_its_target(rocky, write):
    write(TWO)
    answer = rocky("compile", "--model", "spark_catalog.default.good")

    assert ["good"] == [model["name"] for model in answer.json["models"]]


def test_a_model_that_does_not_exist_is_an_error_with_the_nearest_name(rocky, write):
    write(TWO)
    answer = rocky("compile", "--model", "goood")

    assert ExitCode.FAILED == answer.code
    assert "no model `goood`; did you mean `good`?" == answer.json["error"]["message"]


def test_narrowed_to_a_model_broken_inputs_are_still_mentioned(rocky, write):
    write({**TWO, "models/reader.sql": "SELECT * FROM bad\n"})
    answer = rocky("compile", "--model", "reader")

    assert "note: models further up have errors: `bad`" in answer.err


def test_a_model_is_told_with_its_columns_and_what_it_reads(rocky, write):
    write(TWO)
    (model,) = rocky("compile", "--model", "good").json["models"]

    assert [
        {"name": "order_id", "type": "bigint", "nullable": False},
        {"name": "amount", "type": "decimal(12,2)", "nullable": True},
    ] == model["columns"]
    assert ["raw.orders"] == model["reads"]
    assert model["deterministic"]
    assert 64 == len(model["recipe_hash"]) == len(model["skip_hash"])


def test_unknown_columns_are_counted_with_the_reason(rocky, write):
    write({"models/udf.sql": "SELECT my_function(order_id) AS x FROM raw.orders\n"})
    summary = rocky("compile").json["summary"]

    assert 1 == summary["unknown_columns"]


@pytest.mark.parametrize(
    ("style", "first"),
    [
        ("full", "error[E003 unknown-column]: no column `nope` in scope"),
        ("concise", "models/bad.sql:1:8: error[E003] no column `nope` in scope"),
        ("github", "::error file=models/bad.sql,line=1,endLine=1,col=8,endColumn=11,title=E003 "),
    ],
)
def test_the_format_chooses_how_findings_look_also_when_piped(rocky, write, style, first):
    write(TWO)

    assert rocky("compile", "--format", style).out.startswith(first)


def test_a_format_and_json_cannot_both_be_asked_for(rocky, write):
    write(TWO)
    answer = rocky("compile", "--format", "concise", "-o", "json")

    assert ExitCode.FAILED == answer.code
    assert "UsageError" == answer.json["error"]["kind"]


def test_no_cache_leaves_no_cache_behind(rocky, write):
    root = write(TWO)
    rocky("compile", "--no-cache")

    assert not (root / ".rocky").exists()


def test_the_cache_changes_nothing_that_is_printed(rocky, write):
    write(TWO)
    first, second = rocky("compile", "-o", "table"), rocky("compile", "-o", "table")

    assert first == second


def test_baselines_are_recorded_only_on_request(rocky, write):
    contract = '[[columns]]\nname = "amount"\n\n[rules]\nno_new_nullable = true\n'
    root = write(
        {"models/good.sql": TWO["models/good.sql"], "contracts/good.contract.toml": contract}
    )
    baseline = root / "contracts" / "good.baseline.json"
    rocky("compile")
    before = baseline.exists()
    answer = rocky("compile", "--record-baselines")

    assert not before
    assert ["contracts/good.baseline.json"] == answer.json["baselines_recorded"]
    assert baseline.exists()
    assert [] == answer.json["diagnostics"]


def test_findings_are_shown_down_each_file_whichever_pass_found_them(rocky, write):
    write({"models/open.sql": "SELECT\n  amount * 2,\n  order_idd\nFROM raw.orders\n"})
    document = rocky("compile", "-o", "json").json
    concise = rocky("compile", "--format", "concise", "-q").out.splitlines()
    lines = [each["span"]["line"] for each in document["diagnostics"]]

    assert [2, 3] == lines
    assert [f"models/open.sql:{line}" for line in lines] == [
        each.rpartition(": ")[0][: len("models/open.sql:2")] for each in concise
    ]


def test_a_clash_concerns_each_model_that_takes_part(rocky, write):
    files = {"models/a.sql": "SELECT 1 AS x\n", "models/b.sql": "SELECT 1 AS x\n"}
    write(
        {**files, "models/b.toml": '[target]\ntable = "a"\n', "models/c.sql": files["models/a.sql"]}
    )

    assert [["E016"], ["E016"], []] == [
        [each["code"] for each in rocky("compile", "--model", name).json["diagnostics"]]
        for name in ("a", "b", "c")
    ]


def test_an_interval_that_nothing_fills_in_is_found_with_and_without_the_cache(rocky, write):
    write({"models/a.sql": "SELECT order_id FROM raw.orders WHERE status > @start_date\n"})

    for _ in range(2):
        (found,) = rocky("compile").json["diagnostics"]
        assert ("E009", 48) == (found["code"], found["span"]["col"])


def test_a_baseline_that_cannot_be_written_is_named(rocky, write):
    root = write(
        {
            "models/a.sql": "SELECT order_id FROM raw.orders\n",
            "contracts/a.contract.toml": "[rules]\nno_new_nullable = true\n",
        }
    )
    (root / "contracts" / "a.baseline.json").mkdir()
    answer = rocky("compile", "--record-baselines", "--format", "concise")

    assert "error: cannot use `contracts/a.baseline.json`: is a directory\n" == answer.err
