"""Models in the `.rocky` language are models like any other, and findings point into their files."""

import os
import time

from rocky.compiler.passes import compile_project
from rocky.language.dsl.lowering import lower_text
from rocky.project import load_project
from tests.project.projects import finding, findings, helps, load

BASE = {"models/sales.sql": "SELECT 1 AS id, 2 AS qty, CAST(3 AS DECIMAL(10,2)) AS price, 'EU' AS region"}  # fmt: skip


def told(root, files, **variables):
    """What compiling says, once without and once with what the first time has remembered."""
    load(root, {**BASE, **files})
    then = time.time_ns() - 10**9
    for path in root.rglob("*.*"):
        os.utime(path, ns=(then, then))
    time.sleep(0.03)
    found = []
    for _ in range(2):
        project = load_project(root, env={}, remember=True, variables=variables)
        compilation = compile_project(project)
        found.append([finding(project, each) for each in compilation.diagnostics])
    assert found[0] == found[1]
    return found[0]


def test_a_rocky_file_is_a_model_with_its_sidecar_and_its_readers(tmp_path):
    project = load(
        tmp_path,
        {
            **BASE,
            "models/big.rocky": "from sales where qty > 1",
            "models/big.toml": 'intent = "the big ones"\nstrategy = "view"\n',
            "models/top.sql": "SELECT id FROM big",
        },
    )
    compilation = compile_project(project)

    assert [
        "P002 models/big.rocky:1:1 'from' the columns of model `big` change whenever its inputs do,"
        " and `top` reads it"
    ] == [finding(project, each) for each in compilation.diagnostics]
    assert ["big", "sales", "top"] == sorted(project.models)
    assert "the big ones" == project.models["big"].settings.intent
    assert ("sales",) == compilation.models.record("big").reads
    assert ["id", "qty", "price", "region"] == [c.name for c in compilation.models["big"].columns]


def test_a_syntax_error_is_placed_in_the_file_and_blocks_its_model_only(tmp_path):
    project = load(
        tmp_path,
        {**BASE, "models/a.rocky": "-- all\nfrom sales\nwhre qty > 1\n", "models/b.sql": "SELECT id FROM a"},
    )  # fmt: skip

    assert ["E009 models/a.rocky:3:1 'whre' expected a step or the end of the file, found `whre`"] == findings(project)  # fmt: skip
    assert ["did you mean `where`?"] == helps(project)
    assert {"a"} == project.blocked
    assert 1 == len(compile_project(project).diagnostics)


def test_a_finding_is_placed_at_the_step_it_is_about(tmp_path):
    text = (
        "from sales as s\n"
        'where qtty > 1 and region + 1 == "x"\n'
        "derive { net: s.prise * 2, band: match region { > 5 => 1, _ => 2 } }\n"
        "group region { n: count(id), m: max(regon) }\n"
        "select { region, nn }\n"
    )

    assert [
        "E003 models/m.rocky:2:7 'qtty' no column `qtty` in scope",
        "E003 models/m.rocky:3:15 's.prise' no column `s.prise` in scope",
        "E003 models/m.rocky:4:37 'regon' no column `regon` in scope",
        "E003 models/m.rocky:5:18 'nn' no column `nn` in scope",
    ] == [each for each in told(tmp_path, {"models/m.rocky": text}) if each.startswith("E003")]


def test_the_subject_of_a_match_is_told_of_once(tmp_path):
    text = "from sales\nderive { a: match regon { > 1 => 1, < 0 => 2, null => 3 } }\n"

    assert ["E003 models/m.rocky:2:19 'regon' no column `regon` in scope"] == told(
        tmp_path, {"models/m.rocky": text}
    )


def test_a_type_error_of_an_arm_is_told_at_the_arm(tmp_path):
    text = "from sales\nderive { a: match qty { > 1 => 1, > map(1, 2) => 2, _ => 3 } }\n"
    (found,) = told(tmp_path, {"models/m.rocky": text})

    assert found.startswith("E001 models/m.rocky:2:35 '> map(1, 2")


def test_variables_have_their_values_before_the_text_is_read(tmp_path):
    text = '---toml\nintent = "x"\n---\nfrom sales\nwhere qty > @var(low, 10) and region == "@var(region)" and nope\n'

    assert ["E003 models/m.rocky:5:60 'nope' no column `nope` in scope"] == told(
        tmp_path, {"models/m.rocky": text}, region="a longer text than the name of it"
    )


def test_a_variable_without_a_value_is_told_at_its_place(tmp_path):
    assert ["E028 models/m.rocky:1:24 '@var(low)' the variable `low` has no value"] == told(
        tmp_path, {"models/m.rocky": "from sales where qty > @var(low)"}
    )


def test_a_value_that_is_no_expression_is_told_at_the_variable(tmp_path):
    (found,) = told(tmp_path, {"models/m.rocky": "from sales where qty > @var(low)"}, low="; x")

    assert found.startswith("E009 models/m.rocky:1:24 '@var(low)'")


def test_an_interval_model_can_be_written_as_a_pipeline(tmp_path):
    files = {
        "models/events.sql": "SELECT TIMESTAMP '2025-01-01 00:00:00' AS at, 1 AS n",
        "models/m.rocky": "from events where at >= @start_date and at < @end_date",
        "models/m.toml": '[strategy]\ntype = "time_interval"\ntime_column = "at"\ngranularity = "day"\n',
    }

    assert [] == told(tmp_path, files)


def test_an_allow_in_a_comment_silences_its_line(tmp_path):
    text = "from sales -- rocky: allow(W020, W021, W022)\nselect { id }\n"

    assert [] == told(tmp_path, {"models/m.rocky": text})


def test_a_model_written_twice_is_told(tmp_path):
    project = load(
        tmp_path, {**BASE, "models/m.rocky": "from sales", "models/m.sql": "SELECT 1 AS x"}
    )

    assert any("models/m." in each for each in findings(project))


def test_layout_and_comments_change_no_fingerprint():
    first = lower_text("from t where a > 1 derive { b: 2 }")
    second = lower_text("-- why\nfrom t\n| where a>1 -- x\nderive {\n  b: 2,\n}\n")

    assert first.text == second.text


MACROS = {
    "macros/recent.sql": "CREATE MACRO recent(t TABLE) RETURN SELECT * FROM @t WHERE qty > 1;\n",
    "macros/cents.sql": "CREATE MACRO cents(amount EXPRESSION) RETURN CAST(@amount * 100 AS BIGINT);\n",
}


def test_a_macro_is_called_in_a_pipeline_and_told_at_the_call(tmp_path):
    text = "from @recent(sales) as r\nwhere r.qty > 0\nderive { c: @cents(price), d: @cents(array(1)), e: nope }\n"
    found = told(tmp_path, {**MACROS, "models/m.rocky": text})

    assert 2 == len(found)
    assert found[0].startswith("E005 models/m.rocky:3:31 '@cents(array(1))' ")
    assert "E003 models/m.rocky:3:52 'nope' no column `nope` in scope" == found[1]


def test_advice_can_be_written_in_the_file(tmp_path):
    project = load(
        tmp_path,
        {
            **BASE,
            "models/a.rocky": "from sales derive { qty: 1 }",
            "models/b.rocky": "from sales where count() > 1",
            "models/c.rocky": "from sales select { n: sum(qty) }",
            "models/d.rocky": "from sales where qty > 1",
            "models/e.sql": "SELECT qty FROM d",
        },
    )
    advice = {each.path: each.help for each in compile_project(project).diagnostics}

    assert {
        "models/a.rocky": "give it another name, or give the column another value with `set`",
        "models/b.rocky": "`derive` or `group` it in a step before",
        "models/c.rocky": "use `group`",
        "models/d.rocky": "list the columns: `select { id, qty, price, region }`",
    } == advice
