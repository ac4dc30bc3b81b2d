"""A model that is being written: its query, its sidecar, its contract and what is said of it."""

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, Final

from rocky.dbt.compiled_text import translate_compiled, without_ctes
from rocky.dbt.hooks import model_hooks
from rocky.dbt.incremental import choose_strategy
from rocky.dbt.package_files import read_node
from rocky.dbt.remarks import Remark
from rocky.dbt.sandbox import Place, Sandbox
from rocky.dbt.settings import (
    constraint_tests,
    contract_of,
    describe_node,
    rename_snapshot_columns,
    settings_remarks,
    snapshot_strategy,
)
from rocky.dbt.template_names import ASKS_DATABASE
from rocky.dbt.templates import Rendered, render_node
from rocky.dbt.values import DbtProject, Node

_FOLDER: Final = re.compile(r"[\w][\w .-]*")
_SNAPSHOTS: Final = "snapshots"
_ADVICE: Final = ": run `dbt compile`, which does, and import again"


@dataclass(slots=True)
class Draft:
    """What will be written for a node. `path` is that of its query, without an ending."""

    node: Node
    path: str
    sql: str = ""
    sidecar: dict[str, Any] = field(default_factory=dict)
    contract: dict[str, Any] = field(default_factory=dict)
    remarks: list[Remark] = field(default_factory=list)
    changed: bool = False
    reads: tuple[str, ...] = ()

    def say(self, text: str, line: int | None = None, *, needs_hand: bool = False) -> None:
        self.remarks.append(Remark(text, line, needs_hand))


def draft_model(project: DbtProject, node: Node, sandbox: Sandbox) -> Draft:
    """A model or a snapshot."""
    draft = Draft(node, _place(project, node))
    rendered = render_node(project, node, sandbox)
    offset = _offset(project, draft)
    _add_query(project, draft, rendered, offset)
    config = node.config
    draft.sidecar = describe_node(project, node, config)
    if node.kind == "snapshot":
        draft.sidecar["strategy"], said = snapshot_strategy(config)
    else:
        chosen = choose_strategy(config, rendered, "\n" * offset + node.text, project.adapter)
        draft.sidecar["strategy"] = chosen.setting
        draft.sidecar["format_options"] = {**chosen.format_options}
        said = chosen.remarks
    draft.contract, missing = contract_of(node, config)
    draft.sidecar["tests"] = constraint_tests(node) if draft.contract else []
    hooks = model_hooks(config, "\n" * offset + node.text, project.macros)
    draft.remarks += [*said, *missing, *hooks, *settings_remarks(config)]
    _read_snapshots(project, draft)
    return draft


def _add_query(project: DbtProject, draft: Draft, rendered: Rendered, offset: int) -> None:
    """The query: as Rocky renders it where dbt agrees, else as dbt has compiled it."""
    node, failure = draft.node, rendered.failure
    if failure is None:
        draft.reads = tuple(rendered.reads())
        draft.sql = rendered.sql()
        for name in dict.fromkeys(rendered.hidden()):
            why = f"a CTE is called `{name}` as the ephemeral model that is read: rename the CTE"
            draft.say(why, needs_hand=True)
        depends = rendered.remarks or rendered.asks_incremental
        if node.compiled is None or depends or _agrees(node, rendered):
            _say_rendered(draft, rendered)
            return
        draft.say("rendered by dbt: what Rocky renders is another text")
    if node.compiled is not None:
        compiled = translate_compiled(project, node)
        draft.sql, draft.changed = compiled.sql, True
        if failure is not None:
            said = f"rendered by dbt as it was then: {failure.reason}"
            draft.say(said, _line(failure, offset), needs_hand=compiled.reads_itself)
    elif failure is not None:
        reason = " ".join(failure.reason.split())
        draft.sql = f"-- A template of dbt's, as it was: {reason}.\n{node.text.strip()}\n"
        advice = _ADVICE if failure.reason.endswith(ASKS_DATABASE) else ""
        said = f"its template is left as it is: {failure.reason}{advice}"
        draft.say(said, _line(failure, offset), needs_hand=True)


def _line(place: Place, offset: int) -> int | None:
    return None if place.line is None else place.line + offset


def _say_rendered(draft: Draft, rendered: Rendered) -> None:
    if rendered.features:
        draft.changed = True
        draft.say(f"rendered: {', '.join(rendered.features)}")
    if rendered.variables:
        names = ", ".join(f"`@var({each})`" for each in rendered.variables)
        draft.say(f"asks for {names}, with the value of dbt as default")
    for sentence in rendered.remarks:
        draft.say(sentence)


def _read_snapshots(project: DbtProject, draft: Draft) -> None:
    """Rocky's names for the columns of snapshots, in the query of whoever reads one."""
    reads = {*draft.node.reads, *draft.reads}
    if not any(each in reads and node.kind == "snapshot" for each, node in project.nodes.items()):
        return
    draft.sql, renamed = rename_snapshot_columns(draft.sql)
    if renamed:
        draft.say(f"columns of a snapshot: {', '.join(renamed)}")


def _place(project: DbtProject, node: Node) -> str:
    """Where a model goes: its folder below `models`, as far as that is one."""
    if node.kind == "snapshot":
        return f"models/{_SNAPSHOTS}/{node.table}"
    parts = PurePosixPath(node.path).parent.parts[1:]
    safe = [part for part in parts if _FOLDER.fullmatch(part)]
    own = [] if node.package == project.name else [re.sub(r"\W", "_", node.package)]
    return "/".join(["models", *own, *safe, node.table])


def _agrees(node: Node, rendered: Rendered) -> bool:
    said = " ".join(without_ctes(node).split())
    return said in (rendered.as_dbt(), rendered.as_dbt(incremental=True))


def _offset(project: DbtProject, draft: Draft) -> int:
    """How many lines of its file stand before the text of a node; says if the file is another."""
    data = read_node(project, draft.node)
    if data is None:
        return 0
    text = data.decode("utf-8", "replace").replace("\r\n", "\n")
    at = text.find(draft.node.text.strip())
    if at < 0 and draft.node.path.endswith(".sql"):
        draft.say(
            "its file is not what dbt has compiled: run `dbt compile` and import it again",
            needs_hand=True,
        )
    start = at - (len(draft.node.text) - len(draft.node.text.lstrip()))
    return text.count("\n", 0, start) if start > 0 else 0
