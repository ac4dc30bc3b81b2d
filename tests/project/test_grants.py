"""Roles, grants and their catalogue in `rocky.toml`: what is wrong is told at its line."""

import pytest

from rocky.project import load_project

CATALOG = '[governance.catalog]\nkind = "unity"\nurl = "http://localhost:8080"\n'
TARGET = "[pipeline.p.target.governance]\n"
DATABRICKS = '[governance.catalog]\nkind = "databricks"\nurl = "https://d"\ntoken = "${T}"\n'
GRANT = '[[grant]]\nto = "a"\non = "shop.marts.*"\n'


def problems(tmp_path, text, **environment):
    (tmp_path / "models").mkdir()
    (tmp_path / "models/one.sql").write_text("SELECT 1 AS one")
    (tmp_path / "rocky.toml").write_text(text)
    found = load_project(tmp_path, env=environment).diagnostics
    return [(text.count("\n", 0, each.span.start) + 1, each.message) for each in found]


def test_roles_and_grants_that_are_right_are_quiet(tmp_path):
    text = (
        f'{CATALOG}token = "${{UC}}"\n[role.a]\npermissions = ["select", "use_schema"]\n'
        f'members = ["x"]\n{GRANT}'
    )
    assert [] == problems(tmp_path, text, UC="t")


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        (
            '[role.a]\ninherits = ["b"]\n[role.b]\ninherits = ["c"]\n[role.c]\ninherits = ["a"]\n',
            6,
            "roles inherit each other: `a` -> `b` -> `c` -> `a`",
        ),
        ('[role.a]\ninherits = ["a"]\n', 2, "role `a` inherits itself"),
        ('[role.a]\ninherits = ["b"]\n', 2, "no role `b`"),
        (
            f'{CATALOG}[role.a]\npermissions = ["SELECT", "FLY"]\n{GRANT}',
            5,
            "unknown permission `FLY`",
        ),
        (f'{CATALOG}[[grant]]\nto = "x"\non = "shop"\nprivileges = ["READ"]\n', 7, "READ"),
        (f'{CATALOG}[[grant]]\nto = "x"\non = "a.b.c.d"\nprivileges = ["SELECT"]\n', 6, "`on` is"),
        (f'{CATALOG}[[grant]]\nto = "x"\non = "shop"\n', 5, "it is no role"),
        (
            f'{CATALOG}[[grant]]\nto = "{{table}}"\non = "shop"\nprivileges = ["SELECT"]\n',
            5,
            "`{table}` in `to` is not in `on`",
        ),
        (
            f'{CATALOG}[[grant]]\nto = "x"\non = "shop"\nprivileges = ["USE SCHEMA"]\n'
            '[role.a]\npermissions = ["SELECT"]\n',
            9,
            "the permissions of role `a` are granted on nothing",
        ),
        (
            '[[grant]]\nto = "x"\non = "shop"\nprivileges = ["SELECT"]\n',
            1,
            "`[[grant]]` has no effect: no catalogue is told of it",
        ),
        (f'{CATALOG}token = "abc"\n', 4, "`token` is a secret, and this file is in git"),
        (f'{CATALOG}service = "x"\n', 4, "`service` has no effect"),
        ('[governance.catalog]\nkind = "ranger"\n', 1, "needs `service`"),
        (
            '[governance.catalog]\nkind = "unity"\nurl = "http://u:p@localhost"\n',
            3,
            "`url` is not an address",
        ),
        (f'{TARGET}tags = {{ a = "b" }}\n', 1, "only Databricks keeps tags, isolation"),
        (f'{TARGET}tags = {{ a = "b" }}\n{DATABRICKS}', 2, "needs `warehouse_id`"),
        (f"{TARGET}workspaces = [1]\n{DATABRICKS}", 2, "`workspaces` has no effect"),
        (f"{TARGET}isolated = true\n{DATABRICKS}", 2, "nobody could reach"),
        (f'{CATALOG}[governance.tags]\nteam = "a"\n', 4, "only Databricks keeps tags"),
    ],
)
def test_what_is_wrong_is_told_at_its_line(tmp_path, text, line, message):
    found = problems(tmp_path, text, T="t")
    assert any((line, True) == (at, message in said) for at, said in found), found


def test_a_token_with_a_line_end_is_refused_without_being_shown(tmp_path):
    found = problems(tmp_path, f'{CATALOG}token = "${{T}}"\n', T="abc-secret\n")
    assert [(4, True)] == [(line, "abc-secret" not in said) for line, said in found]
