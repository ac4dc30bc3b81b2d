"""What variables say: told from what they said before, and never to be read from a plan."""

from pathlib import Path

import pytest

from rocky.operations.plan.draft import variables_document
from rocky.project import load_project
from tests.run.runs import write

CONFIG = (
    '[adapter]\ntype = "spark"\nwarehouse = "${PLACE}"\n'
    '[adapter.conf]\n"spark.x" = "${X}"\n"spark.my.password" = "${PW}"\n'
    '[adapter.other]\ntype = "spark"\nwarehouse = "${ELSEWHERE:-w}"\n'
    '[pipeline.copy]\ntype = "replication"\n'
    'source = { type = "jdbc", url = "${URL}", catalog = "c", options = { token = "${PW}" } }\n'
    "[budget]\nmax_duration_ms = ${MOST}\n"
    '[state]\ns3_prefix = "${KEPT:-here}/"\n'
)
ENV = {"PLACE": "w", "X": "1", "PW": "p", "URL": "jdbc:x://u:pw@h/d?password=a", "MOST": "10"}


def said(root: Path, ledger_id: str | None = "one", **changed: str):
    env = {**ENV, **changed}
    write(root, {"rocky.toml": CONFIG})
    project = load_project(root, env=env)
    adapter = project.config.adapter["default"]
    return variables_document(project, adapter, (), env, ledger_id, foreseen=True)


@pytest.mark.parametrize(
    "changed",
    [
        {"PLACE": "v"},
        {"X": "2"},
        {"URL": "jdbc:x://u:pw@h/other"},
        {"MOST": "11"},
        {"SPARK_REMOTE": "sc://h"},
    ],
)
def test_what_decides_something_is_told_apart(tmp_path, changed):
    assert said(tmp_path) != said(tmp_path, **changed)


@pytest.mark.parametrize(
    "changed",
    [
        {"PW": "q"},
        {"URL": "jdbc:x://u:other@h/d?password=b"},
        {"ELSEWHERE": "v"},
        {"KEPT": "there"},
        {"NOBODY_ASKS": "1"},
    ],
)
def test_secrets_and_what_decides_nothing_leave_the_hash_as_it_is(tmp_path, changed):
    assert said(tmp_path) == said(tmp_path, **changed)


def test_the_same_values_have_another_hash_with_another_ledger(tmp_path):
    assert said(tmp_path)["names"] == said(tmp_path, "other")["names"]
    assert 3 == len({said(tmp_path, each)["hash"] for each in ("one", "other", None)})


def test_without_variables_nothing_is_said(tmp_path):
    write(tmp_path, {"rocky.toml": "[budget]\nmax_usd = 1\n"})
    project = load_project(tmp_path, env={})
    adapter = project.config.adapter["default"]

    assert variables_document(project, adapter, (), {}, "one", foreseen=True) is None
