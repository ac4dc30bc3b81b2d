"""Both ways in ask the same: each command has its method, each option its parameter, and back."""

import inspect
import json
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.core import ParameterSource
from click.testing import CliRunner

import rocky
from rocky.api.arguments import RunOptions
from rocky.api.workspace import Workspace as OpenWorkspace
from rocky.cli.app import main
from rocky.errors import InvalidRequest
from rocky.operations.workspace import Workspace
from tests.operations.shops import OpenShop


class Pair(NamedTuple):
    """A command line, and the call that is the same: both end in one operation.

    `call` is a method of a workspace, `branch.` one of the branch `b1`, `rocky.` a function.
    """

    command: str
    line: str
    operation: str
    call: str
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = {}  # noqa: RUF012 - nobody changes it

    def __str__(self) -> str:
        return self.line


def pair(line: str, operation: str, call: str, *given: Any, **named: Any) -> Pair:
    """A command is as many words of a line as are a command."""
    words = shlex.split(line)
    longest = next(n for n in range(len(words), 0, -1) if " ".join(words[:n]) in COMMANDS)
    return Pair(" ".join(words[:longest]), line, operation, call, given, named)


def commands(group: click.Group, name: str = "") -> Iterator[tuple[str, click.Command]]:
    """What can be called, by the words: a command, and a group that does something by itself."""
    context = click.Context(group)
    for each in group.list_commands(context):
        command, words = group.get_command(context, each), f"{name} {each}".strip()
        assert command is not None
        if not isinstance(command, click.Group) or command.invoke_without_command:
            yield words, command
        if isinstance(command, click.Group):
            yield from commands(command, words)


# Both load every operation, before any is listened to.
COMMANDS = dict(commands(main))
FUNCTIONS = {f"rocky.{name}" for name in rocky.__all__ if inspect.isfunction(getattr(rocky, name))}

SELECTION = (
    "a b --model c --exclude d --pipeline p --parallel 2 --full-refresh --force-rebuild --no-reuse"
    " --start-anew --force --keep-going"
    " --target other --partition x --from y --to z --latest --missing --lookback 3"
    " --filter tenant=acme --idempotency-key k"
)
SELECTED = {
    "exclude": "d",
    "pipeline": "p",
    "parallel": 2,
    "full_refresh": True,
    "rebuild": True,
    "reuse": False,
    "start_anew": True,
    "force": True,
    "keep_going": True,
    "adapter": "other",
    "window": rocky.Window("y", "z", "x", latest=True, missing=True, lookback=3),
    "filters": ["tenant=acme"],
    "idempotency_key": "k",
}

PAIRS = (
    pair("init shop", "migration.template.init", "rocky.create_project", "shop"),
    pair(
        "playground shop --template replication",
        "migration.template.playground",
        "rocky.create_playground",
        "shop",
        template="replication",
    ),
    pair(
        "import-dbt . --to new --manifest rocky.toml --no-dbt",
        "migration.import_dbt.import_dbt",
        "rocky.import_dbt",
        ".",
        "new",
        manifest="rocky.toml",
        use_dbt=False,
    ),
    pair(
        "validate-migration . a b --manifest rocky.toml --tables . --build --sample 5 --target other",
        "migration.validate_migration.validate_migration",
        "validate_migration",
        ".",
        "a",
        "b",
        manifest="rocky.toml",
        tables=".",
        build=True,
        sample=5,
        adapter="other",
    ),
    pair("explain E001", "check.explain.explain", "rocky.explain", "E001"),
    pair("validate", "check.validate.validate", "validate"),
    pair(
        "compile --model a --model b --verify spark --live --jobs 2 --no-cache --record-baselines"
        " --consumers f --expand-macros --target-dialect trino",
        "check.compile.compile_models",
        "compile",
        "a",
        "b",
        verify=True,
        live=True,
        jobs=2,
        cache=False,
        record_baselines=True,
        consumers="f",
        expand_macros=True,
        target_dialect="trino",
    ),
    pair(
        "compliance --exceptions-only --fail-on exception",
        "governance.compliance.compliance",
        "compliance",
        exceptions_only=True,
        fail_on="exception",
    ),
    pair(
        "compliance --declassified --probe",
        "governance.compliance.compliance",
        "compliance",
        declassified=True,
        probe=True,
    ),
    pair(
        "ci --consumers f --consumers g --jobs 2 --no-cache",
        "check.ci.ci",
        "ci",
        consumers=["f", Path("g")],
        jobs=2,
        cache=False,
    ),
    pair("watch a b --run --test", "execution.watch.watch", "watch", "a", "b", run=True, test=True),
    pair("hooks list on_drift", "execution.hooks.list_hooks", "hooks", "on_drift"),
    pair("hooks test on_drift", "execution.hooks.test_hooks", "test_hooks", "on_drift"),
    pair("governance plan", "governance.catalogue.plan_governance", "plan_governance"),
    pair(
        "governance apply --plan p",
        "governance.catalogue.apply_governance",
        "apply_governance",
        "p",
    ),
    pair("governance who t", "governance.catalogue.who_can_read", "who_can_read", "t"),
    pair("list seeds a tag:b", "graph.list.list_project", "list", "seeds", select=["a", "tag:b"]),
    pair("catalog a tag:b", "page.catalog.catalog", "catalog", "a", "tag:b"),
    pair("dag", "graph.dag.dag", "dag"),
    pair(
        "lineage m --column c --upstream --downstream",
        "graph.lineage.lineage",
        "lineage",
        "m",
        "c",
        upstream=True,
        downstream=True,
    ),
    pair(
        "lineage m --classification pii",
        "graph.lineage.lineage",
        "lineage",
        "m",
        classification="pii",
    ),
    pair(
        "lineage m --column c --if-type string --if-nullable",
        "graph.supposition.suppose",
        "suppose",
        "m",
        "c",
        data_type="string",
        nullable=True,
    ),
    pair("lineage m.c --if-dropped", "graph.supposition.suppose", "suppose", "m.c", dropped=True),
    pair(
        "ci-diff main --exact --model a --fail-on any",
        "changes.diff.diff",
        "diff",
        "main",
        exact=True,
        models="a",
        fail_on="any",
    ),
    pair(
        "lineage-diff main --exact --model a --model b --fail-on any",
        "changes.diff.diff",
        "diff",
        "main",
        exact=True,
        models=["a", "b"],
        fail_on="any",
        reach=True,
    ),
    pair(
        "check-python a b --seconds 2 --schemas f",
        "check.check_python.check_python",
        "check_python",
        "a",
        "b",
        seconds=2,
        schemas="f",
    ),
    pair(
        "emit-sql m --out f --dialect duckdb",
        "check.emit_sql.emit_sql",
        "emit_sql",
        "m",
        out="f",
        dialect="duckdb",
    ),
    pair("fmt a b --check --diff --sql", "check.fmt.fmt", "fmt", "a", "b", check=True, sql=True),
    pair("docs --out f", "page.docs.docs", "docs", out="f"),
    pair(
        "publish a b --out f --check",
        "interfaces.publish.publish",
        "publish",
        "a",
        "b",
        out="f",
        check=True,
    ),
    pair(
        "imports update a b --check --fetch-only --write-pin",
        "interfaces.imports.update_imports",
        "update_imports",
        "a",
        "b",
        check=True,
        fetch_only=True,
        write_pin=True,
    ),
    *(
        pair(
            f"{name} {SELECTION} --test --resume r",
            operation,
            name,
            *"abc",
            **SELECTED,
            test=True,
            resume="r",
        )
        for name, operation in (("run", "execution.run.run"), ("plan", "plan.plan"))
    ),
    pair(
        f"build {SELECTION} --resume r",
        "execution.run.run",
        "build",
        *"abc",
        **SELECTED,
        resume="r",
    ),
    pair("run --resume-latest", "execution.run.run", "run", resume="latest"),
    pair("build --resume-latest", "execution.run.run", "build", resume="latest"),
    pair("plan --resume-latest", "plan.plan", "plan", resume="latest"),
    pair("apply 12345678", "execution.apply.apply", "apply", "12345678"),
    pair(
        "seed a b --full-refresh --target other",
        "execution.seed.seed",
        "seed",
        "a",
        "b",
        full_refresh=True,
        adapter="other",
    ),
    pair(
        "test a --model b --unit --data --target other",
        "execution.test.test",
        "test",
        "a",
        "b",
        unit=True,
        data=True,
        adapter="other",
    ),
    pair(
        "show m --limit 3 --version 2 --target other --columns a,b --where c=1",
        "rows.show.show",
        "show",
        "m",
        limit=3,
        version=2,
        adapter="other",
        columns=["a", "b"],
        where="c=1",
    ),
    pair("show --sql q", "rows.show.show", "show", sql="q"),
    pair(
        "discover raw.* crm.x --write --target other",
        "sources.discover.discover",
        "discover",
        "raw.*",
        "crm.x",
        write=True,
        adapter="other",
    ),
    pair(
        "discover --pipeline p --schema a --schema b* --cache",
        "sources.discover.discover",
        "discover",
        pipeline="p",
        schemas=["a", "b*"],
        cache=True,
    ),
    pair(
        "drift --pipeline p --filter a=b --filter c=d --target other",
        "sources.drift.drift",
        "drift",
        "p",
        filters=["a=b", "c=d"],
        adapter="other",
    ),
    pair(
        "history --model m --limit 3 --since 2026-05-30T00:00:00Z --audit",
        "records.history.history",
        "history",
        "m",
        limit=3,
        since=datetime(2026, 5, 30, tzinfo=UTC),
        audit=True,
    ),
    pair("history r --audit", "records.history.history", "history", run="r", audit=True),
    pair("trace r --limit 3", "records.trace.trace", "trace", "r", limit=3),
    pair("logs r", "records.logs.logs", "logs", "r"),
    pair("cost r --by tag", "records.cost.cost", "cost", "r", by="tag"),
    pair("verify r", "proof.verify.verify", "verify", "r"),
    pair("verify --all", "proof.verify.verify", "verify"),
    pair("verify --since seal", "proof.verify.verify", "verify", since="seal"),
    pair(
        f"verify --sealed git:main --allowed-signers f --head {'0' * 64}",
        "proof.verify.verify",
        "verify",
        sealed="git:main",
        allowed_signers="f",
        head="0" * 64,
    ),
    pair("seal --key k --as n --out f", "proof.seal.seal", "seal", key="k", principal="n", out="f"),
    pair(
        "replay r --model a --verify --execute --keep f --parallel 2 --target other",
        "proof.replay.replay",
        "replay",
        "r",
        models="a",
        verify=True,
        execute=True,
        keep="f",
        parallel=2,
        adapter="other",
    ),
    pair(
        "backfill m --from a --to b --downstream --dry-run --force --target other",
        "execution.backfill.backfill",
        "backfill",
        "m",
        start="a",
        end="b",
        downstream=True,
        dry_run=True,
        force=True,
        adapter="other",
    ),
    pair(
        "compact a b --dry-run --target other",
        "maintenance.compact.compact",
        "compact",
        "a",
        "b",
        dry_run=True,
        adapter="other",
    ),
    pair(
        "retention a b --dry-run --target other",
        "maintenance.retention.retention",
        "retention",
        "a",
        "b",
        dry_run=True,
        adapter="other",
    ),
    pair(
        "erase --where w --from a --from b --apply --reason why --with-branches --target other",
        "governance.erase.erase",
        "erase",
        "w",
        sources=["a", "b"],
        apply=True,
        reason="why",
        with_branches=True,
        adapter="other",
    ),
    pair("erase --resume", "governance.erase.erase", "erase", resume=True),
    pair("gc --dry-run --target other", "maintenance.gc.gc", "gc", dry_run=True, adapter="other"),
    pair(
        "gc --clear-versions --dry-run --reason why --target other",
        "maintenance.clear_versions.clear_versions",
        "clear_versions",
        dry_run=True,
        reason="why",
        adapter="other",
    ),
    pair("state", "state.kept_state.show_state", "state"),
    pair("state delete --table t", "state.kept_state.delete_watermark", "delete_watermark", "t"),
    pair(
        "state accept t -m why --target a",
        "proof.foreign_table.accept_foreign",
        "accept_table",
        "t",
        message="why",
        adapter="a",
    ),
    pair(
        "state restore t --from-tables -m why --target a",
        "state.state_restoration.restore_state",
        "restore_state",
        message="why",
        table="t",
        adapter="a",
    ),
    pair(
        "state restore t -m why --target a",
        "proof.foreign_table.restore_foreign",
        "restore_table",
        "t",
        message="why",
        adapter="a",
    ),
    pair(
        "state retention sweep --dry-run",
        "state.kept_state.sweep_state",
        "sweep_state",
        dry_run=True,
    ),
    pair("doctor --check java --check spark", "health.doctor.doctor", "doctor", "java", "spark"),
    pair(
        "branch create b1 --from r --base main --description d --target other",
        "branch.lifecycle.create",
        "branch.create",
        source="r",
        base="main",
        description="d",
        adapter="other",
    ),
    pair(
        "branch list --all --promotions",
        "branch.show.list_branches",
        "branches",
        everything=True,
        promotions=True,
    ),
    pair("branch show b1", "branch.show.show", "branch.show"),
    pair(
        "branch diff b1 m --key a --key b --sample 3 --to base",
        "branch.diff.diff",
        "branch.diff",
        "m",
        key=["a", "b"],
        sample=3,
        to="base",
    ),
    pair("branch rebase b1 --base main", "branch.lifecycle.rebase", "branch.rebase", base="main"),
    pair(
        "branch approve b1 --message why --key f --as ann",
        "branch.approve.approve",
        "branch.approve",
        message="why",
        key="f",
        principal="ann",
    ),
    pair("branch approvals b1", "branch.approve.approvals", "branch.approvals"),
    pair(
        "branch promote b1 --allow-breaking --message why --key f --as ann",
        "branch.promotion.promote",
        "branch.promote",
        allow_breaking=True,
        message="why",
        key="f",
        principal="ann",
    ),
    pair(
        "branch revert r --discard-later --message why --target other",
        "branch.promotion.revert",
        "revert",
        "r",
        discard_later=True,
        message="why",
        adapter="other",
    ),
    pair(
        "branch recover --forget r --target other",
        "branch.promotion.recover",
        "recover",
        forget="r",
        adapter="other",
    ),
    pair("branch delete b1", "branch.lifecycle.delete", "branch.delete"),
)

PYTHON_ALONE = {
    "rocky.open": "opens what a command opens by itself; its parameters are options, see below",
    "rocky.check_sql": "a query without a project: `rocky compile` speaks of files",
    "rocky.check": "a frame of `rocky.Frames`, which only Python has",
    "rocky.load_project": "the project as a value, which `rocky compile` starts with",
    "rocky.compile_project": "the compilation as a value, which `rocky compile` reports on",
    "rocky.to_dict": "what `-o json` prints, as a value",
    "rocky.to_json": "what `-o json` prints, as text",
    "table": "rows as a DataFrame of the caller's session; `rocky show` prints some",
    "sql": "the same of a query; `rocky show --sql` prints some rows",
    "branch": "names a branch; its methods are the commands",
    "on_branch": "what `--branch` does",
    "on_production": "what leaving `--branch` out does",
}
COMMAND_ALONE = {
    "ui": "serves a page until it is ended: what it shows are the other reports",
    "serve": "the same for others",
    "mcp": "speaks over standard input and output",
    "lsp": "for editors: from Python the session itself is there",
}
OF_OUTPUT = {
    "output": "what comes out: a report is a value",
    "quiet": "prints less",
    "no_color": "prints without colours",
    "style": "`--format`: how text looks",
}
OF_WORKSPACE = {
    "config": "path",
    "state_path": "state_path",
    "variables": "variables",
    "mask_env": "mask_env",
    "branch": "branch",
}
"""Options that say which workspace is meant: parameters of `rocky.open`."""
OPENED_WITH = {
    "env": "the process's, on the command line",
    "spark": "a session of the caller's, which no other process can have",
    "listener": "what `--quiet` leaves out: progress",
    "progress": "as `--quiet`, in a notebook",
    "warn": "what goes to standard error",
}


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    return OpenShop(tmp_path, monkeypatch)


class Asked(Exception):
    """What came to an operation."""


@pytest.fixture
def asked(monkeypatch) -> Callable[[Pair, Callable[[], object]], tuple[Workspace | None, list]]:
    """The workspace and the request with which something asks for the operation of a pair."""

    def listen(*given: Any, **_: Any) -> None:
        raise Asked(*given)

    def ask(wanted: Pair, something: Callable[[], object]) -> tuple[Workspace | None, list]:
        module, _, name = wanted.operation.rpartition(".")
        operation = getattr(sys.modules[f"rocky.operations.{module}"], name)
        for each in [each for key, each in sys.modules.items() if key.startswith("rocky.")]:
            for attribute in [key for key, value in vars(each).items() if value is operation]:
                monkeypatch.setattr(each, attribute, listen)
        with pytest.raises(Asked) as caught:
            something()
        opened = [each for each in caught.value.args if isinstance(each, Workspace)]
        requests = [each for each in caught.value.args if is_dataclass(each)]
        return opened[0] if opened else None, [each for each in requests if each not in opened]

    return ask


def type_line(line: str) -> object:
    return CliRunner().invoke(main, shlex.split(line), catch_exceptions=False)


def find(call: str, workspace: rocky.Workspace) -> Callable[..., object]:
    owner, _, name = call.rpartition(".")
    found = {"": workspace, "rocky": rocky, "branch": workspace.branch("b1")}[owner]
    return getattr(found, name)


@pytest.mark.parametrize("each", PAIRS, ids=str)
def test_a_command_and_its_method_ask_the_same_of_the_same_operation(each, asked):
    _, typed = asked(each, lambda: type_line(each.line))
    _, called = asked(each, lambda: find(each.call, rocky.open())(*each.given, **each.named))

    assert typed == called


def test_every_command_has_a_method_and_every_method_a_command():
    methods = {
        f"{prefix}{name}"
        for prefix, kind in (("", rocky.Workspace), ("branch.", rocky.Branch))
        for name, _ in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_")
    }

    assert set(COMMANDS) == {each.command for each in PAIRS} | set(COMMAND_ALONE)
    assert FUNCTIONS | methods == {each.call for each in PAIRS} | set(PYTHON_ALONE)


@pytest.mark.parametrize("name", [each for each in COMMANDS if each not in COMMAND_ALONE])
def test_every_option_of_a_command_is_asked_for_in_python_too(name):
    known = {each.name for each in COMMANDS[name].params} - set(OF_OUTPUT) - set(OF_WORKSPACE)
    typed = set()
    for each in PAIRS:
        if each.command == name:
            words = shlex.split(each.line)[len(name.split()) :]
            context = COMMANDS[name].make_context(name, words)
            typed |= {
                each
                for each in context.params
                if context.get_parameter_source(each) is ParameterSource.COMMANDLINE
            }

    assert known == typed


@pytest.mark.parametrize("call", sorted({each.call for each in PAIRS}))
def test_every_parameter_of_a_method_is_typed_as_an_option_too(call):
    signature = inspect.signature(find(call, rocky.open()))
    given = set()
    for each in PAIRS:
        if each.call == call:
            given |= signature.bind(*each.given, **each.named).arguments.keys()

    assert set(signature.parameters) == given


def test_the_options_of_a_run_are_the_fields_of_its_request():
    options = RunOptions.__annotations__.keys()

    assert options == {each.name for each in fields(rocky.RunRequest)} - {"select"}
    assert options == SELECTED.keys() | {"resume", "test"}


def test_a_workspace_is_opened_with_what_the_options_of_every_command_say(tmp_path, asked):
    rocky.create_project(tmp_path)
    shown, past = (next(each for each in PAIRS if each.command == name) for name in ("show", "gc"))
    state = tmp_path / "state.kept_state.db"

    typed, _ = asked(
        shown, lambda: type_line(f"show m -c {tmp_path} --var a=b --branch b1 --env dev")
    )
    named, _ = asked(past, lambda: type_line(f"gc -c {tmp_path} --state-path {state}"))

    opened = rocky.open(tmp_path, branch="b1", variables={"a": "b"}, state_path=state)
    assert isinstance(opened, OpenWorkspace)
    assert (opened.config, opened.branch_name, opened.variables, opened.state_file) == (
        typed.config,
        typed.branch_name,
        typed.variables,
        named.state_file,
    )
    parameters = inspect.signature(rocky.open).parameters
    assert set(parameters) == {*OF_WORKSPACE.values(), *OPENED_WITH}


ANSWERED = (
    ("validate", lambda opened: opened.validate()),
    ("compile", lambda opened: opened.compile()),
    ("ci", lambda opened: opened.ci()),
    ("list", lambda opened: opened.list()),
    ("list deps report", lambda opened: opened.list("deps", select="report")),
    ("catalog", lambda opened: opened.catalog()),
    ("dag", lambda opened: opened.dag()),
    ("lineage report", lambda opened: opened.lineage("report")),
    (
        "lineage raw.orders.id --if-type date",
        lambda opened: opened.suppose("raw.orders.id", data_type="date"),
    ),
    ("emit-sql", lambda opened: opened.emit_sql()),
    ("fmt", lambda opened: opened.fmt()),
    ("docs", lambda opened: opened.docs()),
    ("history", lambda opened: opened.history()),
    ("history --model report --audit", lambda opened: opened.history("report", audit=True)),
    ("history latest", lambda opened: opened.history(run="latest")),
    ("trace", lambda opened: opened.trace()),
    ("cost", lambda opened: opened.cost()),
    ("replay", lambda opened: opened.replay()),
    ("state", lambda opened: opened.state()),
    ("show report", lambda opened: opened.show("report")),
    ("branch list", lambda opened: opened.branches()),
    ("explain", lambda _: rocky.explain()),
)


@pytest.mark.slow
@pytest.mark.sampled
@pytest.mark.parametrize(("line", "call"), ANSWERED, ids=[line for line, _ in ANSWERED])
def test_a_report_as_json_is_what_its_command_prints(shop, monkeypatch, line, call):
    monkeypatch.chdir(shop.root)
    opened = rocky.open()
    opened.run("+report")

    words = shlex.split(line)
    printed = json.loads(CliRunner().invoke(main, [*words, "-o", "json"]).stdout)
    report = call(opened)

    asked = printed.pop("command")
    assert rocky.__version__ == printed.pop("version")
    assert line.startswith(asked)
    assert untimed(printed) == untimed(rocky.to_dict(report))
    assert untimed(printed) == untimed(json.loads(rocky.to_json(report)))
    assert rocky.to_json(report).count("\n") < rocky.to_json(report, indent=2).count("\n")
    assert "object at 0x" not in repr(report)


def untimed(document: Any) -> Any:
    """A document without how long it took to make it."""
    if isinstance(document, dict):
        return {key: untimed(each) for key, each in document.items() if "duration" not in key}
    return list(map(untimed, document)) if isinstance(document, list) else document


def test_what_is_no_report_is_not_made_json_of():
    with pytest.raises(InvalidRequest, match="`report` is what an operation came to, not 5"):
        rocky.to_json(5)
