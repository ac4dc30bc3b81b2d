"""The passes that look at one model at a time, each with what it looks at.

What a pass finds is found again when one of these is another object. Places of columns further up
are not among them: labels are placed anew each time.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from rocky.analysis.compilation import CompiledModels, Record, unpack_findings
from rocky.analysis.contracts.check import check_model_contract
from rocky.analysis.lints.rules import lint_graph, lint_settings
from rocky.analysis.names import Names
from rocky.analysis.unit_tests import check_model_tests
from rocky.compiler.graph import ModelGraph
from rocky.compiler.named_tables import (
    NamedTable,
    check_named_tables,
    find_table,
    names_tables,
)
from rocky.compiler.pass_memory import ModelPass, Seen
from rocky.diagnostics import Diagnostic
from rocky.project import Project


class Compiling(NamedTuple):
    """A compile whose models are bound: all that passes look at."""

    project: Project
    names: Names
    records: Mapping[str, Record]
    models: CompiledModels
    graph: ModelGraph

    def seen(self, key: str) -> Seen:
        """A model as its own passes see it."""
        return self.project.models[key], self.records.get(key)


def binding_pass(at: Compiling) -> ModelPass:
    """What binding found, in the model's files; labels further up are not placed yet."""

    def concerns(key: str) -> bool:
        record = at.records.get(key)
        return record is not None and bool(record.findings)

    def find(key: str) -> Iterable[Diagnostic]:
        return unpack_findings(at.records[key], at.project.models[key], at.project.texts)

    return ModelPass("binding", concerns, at.seen, find)


def settings_pass(at: Compiling) -> ModelPass:
    """Settings that do not fit the model's output."""

    def concerns(key: str) -> bool:
        record = at.records.get(key)
        return record is not None and record.names_columns

    def find(key: str) -> Iterable[Diagnostic]:
        return lint_settings(at.project.models[key], at.models[key], at.project.texts)

    return ModelPass("settings", concerns, at.seen, find)


def named_pass(at: Compiling) -> ModelPass:
    """Tests of tables that are not their models' own; labels are not placed yet.

    They are few, and look at tables that only binding them tells: they are always looked at again.
    """

    def concerns(key: str) -> bool:
        record = at.records.get(key)
        return record is not None and record.names_columns and names_tables(at.project.models[key])

    def table(name: str) -> NamedTable | None:
        return find_table(name, at.project, at.names, at.models)

    def find(key: str) -> Iterable[Diagnostic]:
        model = at.project.models[key]
        yield from check_named_tables(model, at.project, table)
        if any(each.table is not None for each in model.tests):
            # It loads the binder, which a compile with nothing to bind does without.
            from rocky.compiler.check_binder import bind_named_tests  # noqa: PLC0415

            yield from bind_named_tests(model, table, at.project, at.names)

    return ModelPass("named tables", concerns, lambda _: (object(),), find)


def graph_pass(at: Compiling) -> ModelPass:
    """What readers have to know: only models whose output follows an input's are looked at."""

    def concerns(key: str) -> bool:
        record = at.records.get(key)
        return record is not None and record.star is not None

    def sees(key: str) -> Seen:
        return *at.seen(key), at.graph.downstream.get(at.project.models[key].name)

    def find(key: str) -> Iterable[Diagnostic]:
        return lint_graph({key: at.models[key]}, at.project.models, at.graph.downstream)

    return ModelPass("graph", concerns, sees, find)


def contract_pass(at: Compiling) -> ModelPass:
    """What contracts find; advice may name what is further up."""

    def concerns(key: str) -> bool:
        return key in at.project.contracts and key in at.records

    def sees(key: str) -> Seen:
        above = (at.records.get(name.lower()) for name in at.records[key].reads)
        return *at.seen(key), at.project.contracts[key], *above

    def find(key: str) -> Iterable[Diagnostic]:
        return check_model_contract(key, at.project, at.models)

    return ModelPass("contracts", concerns, sees, find)


def unit_test_pass(at: Compiling) -> ModelPass:
    """Unit tests that give rows of what does not exist."""

    def concerns(key: str) -> bool:
        return at.project.models[key].has_unit_tests

    def find(key: str) -> Iterable[Diagnostic]:
        return check_model_tests(at.project, at.names, at.project.models[key])

    return ModelPass("unit tests", concerns, at.seen, find)


def portability_pass(at: Compiling, targets: Sequence[str]) -> ModelPass:
    """What other engines lack, or read otherwise."""
    # It reads the table of dialects, which a compile that asks for none does without.
    from rocky.analysis.lints.portability import lint_portability  # noqa: PLC0415

    def concerns(key: str) -> bool:
        record = at.records.get(key)
        return record is not None and bool(record.usage)

    def find(key: str) -> Iterable[Diagnostic]:
        return lint_portability(at.project, {key: at.records[key]}, targets)

    return ModelPass("portability", concerns, at.seen, find)
