"""A dbt project as files of a Rocky project, with what is to be said of each thing."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from rocky.dbt.checks import is_warning, render_test, translate_test
from rocky.dbt.compiled_text import translate_compiled
from rocky.dbt.declarations import NAME, ordered, seed_files, settings_files, source_file
from rocky.dbt.drafts import Draft, draft_model
from rocky.dbt.freshness import HOLDS_READERS, holds_readers
from rocky.dbt.lookups import find_node, stands_for
from rocky.dbt.remarks import Remark, Taken, ThingKind, judge
from rocky.dbt.sandbox import Clock, Sandbox, no_clock
from rocky.dbt.settings import unit_test_block
from rocky.dbt.toml_text import Block, format_toml
from rocky.dbt.values import DbtProject, Node, Source, UnitTest

_LONGEST_NAME: Final = 120


@dataclass(frozen=True, slots=True)
class Translation:
    """The files of the new project by their paths, and what became of each thing.

    `remarks` are about the project as a whole.
    """

    files: Mapping[str, bytes]
    taken: tuple[Taken, ...]
    remarks: tuple[str, ...] = ()


def translate_project(project: DbtProject, clock: Clock = no_clock) -> Translation:
    """Everything that a dbt project holds. Nothing is written and nothing is run.

    By the `clock` templates are ended that take too long.
    """
    return _Translator(project, Sandbox(clock)).translate()


class _Translator:
    def __init__(self, project: DbtProject, sandbox: Sandbox) -> None:
        self._project = project
        self._sandbox = sandbox
        self._files: dict[str, bytes] = {}
        self._taken: list[Taken] = []
        self._drafts: dict[str, Draft] = {}
        self._names: set[str] = set()

    def translate(self) -> Translation:
        nodes = sorted(self._project.nodes.values(), key=lambda each: each.id)
        for node in nodes:
            if node.kind in ("model", "snapshot"):
                self._model(node)
            elif node.kind == "seed":
                self._seed(node)
        for node in nodes:
            if node.kind == "test":
                self._test(node)
        for test in self._project.unit_tests:
            self._unit_test(test)
        for draft in self._drafts.values():
            self._write(draft)
        self._sources()
        self._files |= settings_files(self._project)
        held = any(holds_readers(each) for each in self._project.sources.values())
        return Translation(self._files, tuple(self._taken), (HOLDS_READERS,) if held else ())

    # -------------------------------------------------------------- models and seeds

    def _model(self, node: Node) -> None:
        kind: ThingKind = "snapshot" if node.kind == "snapshot" else "model"
        refused = self._refusal(node)
        if refused is not None:
            self._refuse(kind, node.table, node.path, refused)
            return
        self._names.add(node.table.lower())
        self._drafts[node.id] = draft_model(self._project, node, self._sandbox)

    def _refusal(self, node: Node) -> str | None:
        if node.language != "sql":
            return "a model in Python has another form here: see the guide on Python models"
        if NAME.fullmatch(node.table) is None:
            return f"`{node.table}` is no name of a model: letters, digits and `_` are"
        if node.table.lower() in self._names:
            return f"another package has a model `{node.table}`: only one can have the name"
        return None

    def _refuse(self, kind: ThingKind, name: str, path: str, why: str) -> None:
        said = (Remark(why, needs_hand=True),)
        self._taken.append(Taken(kind, name, path, None, "needs_hand", said))

    def _seed(self, node: Node) -> None:
        files, taken = seed_files(self._project, node)
        self._names.add(node.table.lower())
        self._files |= files
        self._taken.append(taken)

    def _write(self, draft: Draft) -> None:
        node = draft.node
        self._files[f"{draft.path}.sql"] = draft.sql.encode("utf-8", "replace")
        sidecar = format_toml(ordered(draft.sidecar))
        if sidecar:
            self._files[f"{draft.path}.toml"] = sidecar.encode("utf-8", "replace")
        if draft.contract:
            contract = format_toml(draft.contract).encode("utf-8", "replace")
            self._files[f"contracts/{node.table}.contract.toml"] = contract
        if node.kind == "test":
            return
        kind: ThingKind = "snapshot" if node.kind == "snapshot" else "model"
        remarks = tuple(draft.remarks)
        verdict = judge(remarks, changed=draft.changed)
        written = f"{draft.path}.sql"
        self._taken.append(Taken(kind, node.table, node.path, written, verdict, remarks))

    # -------------------------------------------------------------- tests

    def _test(self, node: Node) -> None:
        call = node.test
        if call is not None:
            found = translate_test(self._project, node, call)
            if found is not None:
                self._attach(node, call.attached, found.settings)
                return
        rendered = render_test(self._project, node, self._sandbox)
        if rendered.failure is None:
            self._empty_view(node, rendered.sql())
        elif node.compiled is not None:
            self._empty_view(node, translate_compiled(self._project, node).sql)
        else:
            self._refuse("test", node.name, node.path, f"not taken: {rendered.failure.reason}")

    def _empty_view(self, node: Node, sql: str) -> None:
        """A test as a view that must have no rows."""
        name = re.sub(r"\W", "_", node.name)[:_LONGEST_NAME]
        while name.lower() in self._names:
            name += "_test"
        self._names.add(name.lower())
        check: dict[str, Any] = {"type": "row_count_range", "max": 0}
        if is_warning(node):
            check["severity"] = "warning"
        draft = Draft(replace(node, name=name), f"models/tests/{name}", sql)
        draft.sidecar = {
            "description": node.description.strip() or "Rows that should not be there",
            "strategy": "view",
            "tests": [Block(check)],
        }
        self._drafts[node.id] = draft
        said = (Remark("a view that must have no rows"),)
        written = f"{draft.path}.sql"
        self._taken.append(Taken("test", node.name, node.path, written, "rewritten", said))

    def _attach(self, node: Node, to: str, settings: dict[str, Any]) -> None:
        """An assertion beside its model; of a source or a seed, beside the first that reads it."""
        draft = self._drafts.get(to)
        if draft is None:
            draft = next(
                (
                    each
                    for each in self._drafts.values()
                    if to in each.reads and each.node.kind != "test"
                ),
                None,
            )
            thing = self._thing(to)
            if draft is None or thing is None:
                why = "not taken: no model reads what it is about"
                self._refuse("test", node.name, node.path, why)
                return
            settings = {**settings, "table": thing.table}
        tests = draft.sidecar.setdefault("tests", [])
        if settings not in tests:
            tests.append(Block(settings))
        self._taken.append(Taken("test", node.name, node.path, f"{draft.path}.toml"))

    def _thing(self, key: str) -> Node | Source | None:
        """A seed or a source by its id; the seed, where both are one table."""
        source = self._project.sources.get(key)
        if source is None:
            return self._project.nodes.get(key)
        return stands_for(self._project, source) or source

    def _unit_test(self, test: UnitTest) -> None:
        model = find_node(self._project, test.model)
        draft = self._drafts.get(model.id) if model else None
        block, said = unit_test_block(self._project, test)
        if draft is None or block is None:
            why = said.text if said else f"its model `{test.model}` is not there"
            self._refuse("unit_test", test.name, test.path, why)
            return
        draft.sidecar.setdefault("test", []).append(block)
        self._taken.append(Taken("unit_test", test.name, test.path, f"{draft.path}.toml"))

    # -------------------------------------------------------------- sources

    def _sources(self) -> None:
        groups: dict[str, list[Source]] = {}
        for source in self._project.sources.values():
            same = stands_for(self._project, source)
            if same is None:
                groups.setdefault(source.group, []).append(source)
                continue
            said = (Remark(f"it is the table of `{same.table}`, which is read in its place"),)
            self._taken.append(Taken("source", source.table, source.path, None, "rewritten", said))
        for group, sources in sorted(groups.items()):
            path, text, taken = source_file(group, sources)
            self._files[path] = text
            self._taken += taken
