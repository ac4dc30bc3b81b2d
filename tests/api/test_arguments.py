"""Arguments from Python: what a request cannot hold is refused by its name, before anything is done."""

import ast
import dataclasses
import importlib
import pkgutil
import re
from datetime import UTC, datetime
from inspect import isfunction, signature
from pathlib import Path

import pytest

import rocky
from rocky import operations
from rocky.api.analysis import Analysis
from rocky.api.arguments import RunOptions
from rocky.api.hints import argument_of, in_python
from rocky.api.records import Records
from rocky.errors import InvalidRequest, NothingSelected
from rocky.operations.records.history import HistoryRequest
from rocky.plan.arguments import Request

CALLS = {
    "`jobs` is at least 1, not 0": lambda opened: opened.compile(jobs=0),
    "`jobs` is a whole number, not `2`": lambda opened: opened.ci(jobs="2"),
    "`jobs` is a whole number, not True": lambda opened: opened.compile(jobs=True),
    "each of `models` is a text, not None": lambda opened: opened.compile(None),
    "each of `consumers` is a path, not 5": lambda opened: opened.ci(consumers=5),
    "each of `select` is a text, not None": lambda opened: opened.plan(None),
    "each of `exclude` is a text, not 3": lambda opened: opened.run(exclude=3),
    "`window` is a `Window`, not `latest`": lambda opened: opened.run(window="latest"),
    "`full_refresh` is True or False, not `yes`": lambda opened: opened.run(full_refresh="yes"),
    "`plan` is a text, not None": lambda opened: opened.apply(None),
    "`target` is a text, not 7": lambda opened: opened.lineage(7),
    "`out` is a path, not 7": lambda opened: opened.emit_sql(out=7),
    "`limit` is at least 0, not -1": lambda opened: opened.show("report", limit=-1),
    "`version` is at least 0, not -1": lambda opened: opened.show("report", version=-1),
    "`since` is a `datetime`, not `today`": lambda opened: opened.history(since="today"),
    "`kind` is `models`, `sources`, `seeds`, `pipelines`, `functions`, `macros`, `deps` or `consumers`, not `model`": lambda opened: (
        opened.list("model")
    ),
    "`to` is `production` or `base`, not `b2`": lambda opened: opened.branch("b1").diff(to="b2"),
    "`name` is a text, not None": lambda opened: opened.branch(None),
    "`path` is a text or a path, not 5": lambda _: rocky.open(5),
    "`branch` is a text, not 5": lambda _: rocky.open(branch=5),
    "each of `variables` is a text, not 1": (lambda _: rocky.open(variables={"n": 1})),
    "each of `variables` is a text, not 2": (lambda _: rocky.open(variables={2: "n"})),
    "`spark` is a session of Spark, not 'local[*]'": lambda _: rocky.open(spark="local[*]"),
    "`warn` is a function that is given a sentence, not 'x'": lambda _: rocky.open(warn="x"),
    "`listener` has no method `queued`; it needs queued, started, progress, retried, finished": (
        lambda _: rocky.open(listener=print)
    ),
    "no option `force_rebuild`; it is `rebuild=`": lambda opened: opened.run(force_rebuild=True),
    "no option `paralel`; did you mean `parallel`?": lambda opened: opened.plan(paralel=2),
    "selectors are given one by one: `run('a', 'b')`": lambda opened: opened.run(select="a"),
    "`limit` is a whole number, not 9223372036854775808": lambda opened: opened.history(
        limit=2**63
    ),
    "`kind` is `models`, `sources`, `seeds`, `pipelines`, `functions`, `macros`, `deps` or `consumers`, not [1]": lambda opened: (
        opened.list([1])
    ),
    "`sql` is a text, not None": lambda _: rocky.check_sql(None),
    "`tables` maps the names of tables to their columns, not 'id BIGINT'": lambda _: (
        rocky.check_sql("SELECT 1", "id BIGINT")
    ),
    "`variables` is a mapping, not `n=1`": lambda _: rocky.open(variables="n=1"),
    "`select` is a tuple, not `report`": lambda _: rocky.RunRequest("report"),
    "`code` is a text, not 1": lambda _: rocky.explain(1),
    "`folder` is a path, not None": lambda _: rocky.create_project(None),
}


@pytest.mark.parametrize("said", CALLS)
def test_a_value_that_an_argument_cannot_have_is_refused(tmp_path, said):
    with pytest.raises(InvalidRequest) as refused:
        CALLS[said](rocky.open(tmp_path))

    assert said == str(refused.value)


def test_what_an_argument_can_have_is_taken():
    rocky.RunRequest(("a",), parallel=1, window=rocky.Window(lookback=0))
    assert 1 == HistoryRequest(limit=1, since=datetime(2026, 5, 30, tzinfo=UTC)).limit


def test_every_request_of_an_operation_is_checked():
    found = set()
    for each in pkgutil.walk_packages(operations.__path__, "rocky.operations."):
        module = importlib.import_module(each.name)
        found |= {
            value
            for name, value in vars(module).items()
            if name.endswith("Request") and dataclasses.is_dataclass(value)
        }

    asked = {each for each in found if each.__module__.startswith("rocky.operations")}
    assert 30 < len(asked)
    assert set() == {each for each in asked if not issubclass(each, Request)}
    for each in filter(dataclasses.fields, asked):
        # Their types can be told, also those of fields that nobody gives.
        wanted = [field.name for field in dataclasses.fields(each) if _is_required(field)]
        with pytest.raises(InvalidRequest):
            each(**dict.fromkeys(wanted, Path()), **_unfit(each, wanted))


def _is_required(field: dataclasses.Field) -> bool:
    return field.default is field.default_factory is dataclasses.MISSING


def _unfit(kind: type, besides: list[str]) -> dict[str, object]:
    return {each.name: object() for each in dataclasses.fields(kind) if each.name not in besides}


def test_an_error_names_arguments_and_calls_and_no_options_and_commands(tmp_path):
    rocky.create_project(tmp_path)
    opened = rocky.open(tmp_path)

    said = "^`key=` and `principal=` need `allow_breaking=`$"
    with pytest.raises(InvalidRequest, match=said) as found:
        opened.branch("b1").promote(key="bob")
    assert not hasattr(found.value, "__notes__")
    with pytest.raises(InvalidRequest, match=r"`window=rocky.Window\(...\)` .* together"):
        opened.plan(window=rocky.Window(latest=True, missing=True))
    with pytest.raises(NothingSelected, match=r"no run is recorded yet; `run\(\)` makes the first"):
        opened.history(run="latest")
    with pytest.raises(NothingSelected, match=r"`branch\(NAME\)\.create\(\)` makes one"):
        opened.branch("b1").show()


@pytest.mark.parametrize(
    ("line", "call"),
    [
        ("`rocky run --model m --full-refresh` loads", "`run('m', full_refresh=True)` loads"),
        ("`rocky run --branch fix`", "`branch('fix').workspace.run()`"),
        ("`rocky history run-1` and `--no-reuse`", "`history(run='run-1')` and `reuse=False`"),
        ("`rocky branch rebase b`", "`branch('b').rebase()`"),
        ("`rocky compile --verify spark`", "`compile(verify=True)`"),
        (
            "`rocky state restore TABLE --from-tables -m WHY`",
            "`restore_state(table=TABLE, message=WHY)`",
        ),
        ("name it with `--branch fix`", "name it with `branch='fix'`"),
        ("`rocky --version`, `rocky.toml` and rocky run", None),
    ],
)
def test_a_command_line_becomes_a_call(line, call):
    assert (call or line) == in_python(line)


def test_every_command_that_a_message_names_is_a_call_that_can_be_made():
    root = Path(rocky.__file__).parent
    named = {
        re.sub(r"\{[^}]*\}", "x", each)
        for room in ROOMS
        for path in (root / room).rglob("*.py")
        for each in re.findall("`(rocky [a-z][^`\n]*)`", path.read_text())
    }
    told = {each: in_python(f"`{each}`").strip("`") for each in named}

    assert 40 < len(told)
    left = {each for each, call in told.items() if call == each}
    assert left <= UNTOLD, left - UNTOLD
    for line, call in told.items():
        if line not in left:
            _bind(call)


UNTOLD = {
    "rocky branch",
    "rocky imports",
    "rocky run -o json",
    "rocky plan -o json",
}
"""What people type and nobody calls."""


def _bind(call: str) -> None:
    """Raise TypeError unless a call fits the signature of what it calls."""
    made = ast.parse(call, mode="eval").body
    assert isinstance(made, ast.Call)
    *owner, name = ast.unparse(made.func).split(".")
    kind = rocky.Branch if owner and owner[-1].startswith("branch(") else rocky.Workspace
    if "workspace" in owner:
        kind = rocky.Workspace
    function = getattr(rocky if owner == ["rocky"] else kind, name)
    first = () if owner == ["rocky"] else (None,)
    named = {each.arg: None for each in made.keywords if each.arg is not None}
    signature(function).bind_partial(*first, *made.args, **named)


ROOMS = ("operations", "replay", "pipelines", "branches", "run", "plan", "state", "evidence")


def test_every_option_that_a_message_names_is_an_argument():
    methods = [
        each
        for kind in (rocky.Workspace, Analysis, Records, rocky.Branch)
        for each in vars(kind).values()
    ]
    taken = {name for each in [*methods, rocky.open] for name in _parameters(each)}
    taken |= set(rocky.RunRequest.__slots__)
    root = Path(rocky.__file__).parent
    named = {
        option
        for room in ROOMS
        for path in (root / room).rglob("*.py")
        for option in re.findall("`--([a-z]+[a-z-]*)", path.read_text())
    }

    assert {"target", "full-refresh", "state-path"} <= named
    assert set() == {each for each in named if _name_of(each) not in taken} - {"template"}


def _parameters(method: object) -> list[str]:
    return list(signature(method).parameters) if isfunction(method) else []


def _name_of(option: str) -> str:
    return argument_of(option).partition("=")[0]


def test_the_help_of_a_run_names_every_option():
    assert all(
        f"`{name}`" in (rocky.Workspace.run.__doc__ or "") for name in RunOptions.__annotations__
    )
