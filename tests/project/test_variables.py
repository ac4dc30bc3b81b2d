import pickle

import pytest

from rocky.project.toml.variables import Substituted, quote_bare_references, resolve_variables
from tests.project.projects import findings, helps, load


def resolve(value, env):
    missing = []
    return resolve_variables(value, env, lambda keys, name: missing.append((keys, name))), missing


@pytest.mark.parametrize(
    ("text", "env", "expected"),
    [
        ("${A}", {"A": "x"}, "x"),
        ("s3://${A}/${B}/t", {"A": "x", "B": "y"}, "s3://x/y/t"),
        ("${A:-d}", {}, "d"),
        ("${A:-d}", {"A": ""}, "d"),
        ("${A:-}", {}, ""),
        ("${A}", {"A": ""}, ""),
        ("$${A}", {"A": "x"}, "${A}"),
        ("${A}", {"A": "${B}", "B": "no"}, "${B}"),
        ("${spark:x}", {}, "${spark:x}"),
        ("$A {B}", {"A": "x"}, "$A {B}"),
    ],
)
def test_a_reference_is_replaced_by_its_value(text, env, expected):
    assert (expected, []) == resolve(text, env)


def test_references_are_replaced_inside_tables_and_lists():
    value = {"a": ["${X}", {"b": "${Y}"}], "n": 1}

    assert ({"a": ["x", {"b": "y"}], "n": 1}, []) == resolve(value, {"X": "x", "Y": "y"})


def test_a_variable_without_a_value_is_named_with_its_keys():
    assert [(("a", 0), "X")] == resolve({"a": ["${X} ${X}"]}, {})[1]


def test_a_substituted_value_is_shown_as_it_was_written():
    value = resolve("${SECRET}", {"SECRET": "hunter2"})[0]

    assert "hunter2" == value
    assert "'${SECRET}'" == repr(value)


def test_a_substituted_value_survives_pickling():
    value = pickle.loads(pickle.dumps(Substituted("hunter2", "${SECRET}")))

    assert ("hunter2", "${SECRET}") == (value, value.written)


def test_only_references_outside_texts_and_comments_are_quoted():
    text = 'a = ${A}\nb = "x ${B}" # ${C}\nc = [${D:-1}, \'${E}\']\nd = """\n${F}"""\n'

    assert (
        'a = "${A}"\nb = "x ${B}" # ${C}\nc = ["${D:-1}", \'${E}\']\nd = """\n${F}"""\n'
        == quote_bare_references(text)
    )


def test_a_variable_in_a_comment_is_not_missed(tmp_path):
    project = load(
        tmp_path, {"rocky.toml": '# ${NOT_SET}\n[pipeline.p] # ${NOT_SET}\nmodels = "models/**"\n'}
    )

    assert [] == findings(project)


def test_an_unset_variable_is_reported_once_at_its_value(tmp_path):
    config = '[state]\nbackend = "s3"\ns3_bucket = "${BUCKET}"\n'
    project = load(tmp_path, {"rocky.toml": config})

    assert [
        "E018 rocky.toml:3:13 '\"${BUCKET}\"' the environment variable `BUCKET` is not set"
    ] == findings(project)
    assert ["set it, or give a default: `${BUCKET:-value}`"] == helps(project)


def test_a_number_and_a_flag_may_come_from_variables(tmp_path):
    config = '[budget]\nmax_usd = ${USD}\nmax_duration_ms = "${MS:-5}"\n[reuse]\nenabled = ${ON}\n'
    project = load(tmp_path, {"rocky.toml": config}, {"USD": "2.5", "ON": "false"})

    assert [] == findings(project)
    assert (2.5, 5, False) == (
        project.config.budget.max_usd,
        project.config.budget.max_duration_ms,
        project.config.reuse.enabled,
    )


def test_no_message_or_help_shows_what_a_variable_resolved_to(tmp_path):
    secret = "hunter2"
    files = {
        "rocky.toml": '[budget]\nmax_usd = ${S}\non_breach = "${S}"\n[state]\nbackend = "${S}"\n'
        '[pipeline.p]\ndepends_on = ["${S}"]\ntarget = { adapter = "${S}" }\n',
        "models/a.sql": "SELECT 1 AS x",
        "models/b.sql": "SELECT 1 AS x",
        "models/a.toml": 'depends_on = ["${S}"]\nretention = "${S}"\n[target]\ntable = "${S}"\n[strategy]\ntype = "${S}"\n',
        "models/b.toml": '[target]\ntable = "${S}"\n',
        "sources/s.toml": '[[source]]\nname = "${S}"\ncolumns = [{ name = "${S}", type = "${S}" }, { name = "${S}", type = "int" }]\n'
        '[[source]]\nname = "${S}"\ncolumns = [{ name = "a", type = "int" }]\n',
        "contracts/a.contract.toml": '[[columns]]\nname = "${S}"\ntype = "${S}"\n[[columns]]\nname = "${S}"\n',
        "seeds/z.csv": "a,b\n1,2\n",
        "seeds/z.toml": 'columns = [{ name = "${S}", type = "int" }]\n',
    }
    project = load(tmp_path, files, {"S": secret})
    shown = [
        text
        for one in project.diagnostics
        for text in (one.message, one.help or "", *[label.message for label in one.labels])
    ]

    assert len(shown) > 20
    assert [] == [text for text in shown if secret in text]
    assert secret not in repr(project.config)
