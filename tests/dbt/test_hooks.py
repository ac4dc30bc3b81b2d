"""Hooks of dbt's are SQL and Rocky's are not: each is named at its line, with what does the same."""

import pytest

from rocky.dbt.hooks import advise, model_hooks, project_hooks
from rocky.dbt.values import Macro

MAKES = Macro("shop", "make_functions", "create or replace temporary function first(s string)", "m")


@pytest.mark.parametrize(
    ("sql", "advice"),
    [
        ("create function if not exists tools.net(x int) returns int", "`functions/net.sql`"),
        ("{{ make_functions() }}", "`functions/first.sql`"),
        ("grant select on {{ this }} to role reader", "grant in the catalogue"),
        ("optimize {{ this }} zorder by (id)", "`rocky compact`"),
        ("analyze table {{ this }} compute statistics", "nothing is needed"),
        ("create schema if not exists audit", "nothing is needed"),
        ("insert into audit values (1)", "`rocky history`"),
        ("delete from {{ this }} where id < 0", "put it into the model's query"),
        ("set spark.sql.ansi.enabled = false", "`[adapter.conf]`"),
        ("{{ log('done') }}", "`[hook.on_run_success]`"),
    ],
)
def test_what_does_the_same_is_named(sql, advice):
    assert advice in advise("post-hook", sql, [MAKES])


def test_hooks_of_a_model_are_named_at_their_lines():
    text = "select 1\n{{ config(\n  post_hook='grant select on t to r') }}"
    config = {"post-hook": [{"sql": "grant select on t to r", "transaction": True}]}
    (said,) = model_hooks(config, text, [])

    assert (3, True) == (said.line, said.needs_hand)
    assert (
        "the `post-hook` is not run: `grant select on t to r`; hooks of Rocky are commands, not"
        " SQL: grant in the catalogue, where it holds for every later version"
    ) == said.text


def test_every_hook_of_a_project_is_named_at_its_line():
    text = "name: x\non-run-start:\n  - create schema a\n  - grant select on b to c\n"
    settings = {"on-run-start": ["create schema a", "grant select on b to c"]}
    first, second = project_hooks(settings, text, "dbt_project.yml", [])

    assert "`create schema a` (dbt_project.yml:3); hooks of Rocky are commands, not SQL" in first
    assert "(dbt_project.yml:4)" in second
