"""Compliance: which classified columns are masked, where, by what, and which are not.

An exception is a clear value that nobody decided on. A strategy of `none` is a decision and no
mask, so it is neither counted as masked nor reported as an exception.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from rocky.analysis.classification import TagFact, classify
from rocky.analysis.classification.facts import Declassified
from rocky.analysis.compilation import Compilation
from rocky.analysis.compliance import (
    DEFAULT,
    ClassifiedColumn,
    Protected,
    Protection,
    environments_of,
    find_protection,
)
from rocky.diagnostics import Diagnostic
from rocky.errors import InvalidRequest
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import errors_in, refuse_errors
from rocky.operations.governance.declassification_records import (
    CarriedOut,
    DeclassificationRecords,
    WrittenDown,
)
from rocky.operations.governance.probe import ProbedColumn, is_exposed, probe
from rocky.operations.workspace import Workspace, compile_workspace, known_branch
from rocky.plan.arguments import Request
from rocky.project import Project
from rocky.project.toml.variables import written

FailOn = Literal["exception"]
_OWN: Final = ("E050", "E059")
"""Errors about tags and masks: what they say is what is asked for here."""


@dataclass(frozen=True, slots=True)
class ComplianceRequest(Request):
    """All classified columns, or those with an exception; `fail_on` makes exceptions a failure.

    With `declassified` only what was declassified, and since when that is on record. With `probe`
    tables are read, and what a reader sees clear that should be masked is an exception too.
    """

    exceptions_only: bool = False
    fail_on: FailOn | None = None
    declassified: bool = False
    probe: bool = False


@dataclass(frozen=True, slots=True)
class ComplianceSummary:
    """How many columns there are, each once for every tag that it has.

    `total_masked` are masked in every environment that was looked at, the others in at least one
    what they are called.
    """

    total_classified: int
    total_masked: int
    total_exceptions: int
    total_clear_by_decision: int
    total_allowed: int


@dataclass(frozen=True, slots=True)
class EnvProtection:
    """What becomes of a column in an environment.

    `enforced` is true where no clear value can be read of what runs leave; `level` says where that
    holds. `decided_by` is the tag whose mask it is, where that is another one.
    """

    env: str
    masking_strategy: str | None
    enforced: bool
    state: Protection
    level: str | None = None
    decided_by: str | None = None


@dataclass(frozen=True, slots=True)
class ColumnCompliance:
    """A column with one of its tags. `path` begins with the column at which the tag was declared.

    `column` is the field in it (`address.street`) where only that has the tag.
    """

    model: str
    column: str
    classification: str
    declared: bool
    path: tuple[str, ...]
    envs: tuple[EnvProtection, ...]


@dataclass(frozen=True, slots=True)
class ComplianceException:
    """A clear value that nobody decided on."""

    model: str
    column: str
    classification: str
    env: str
    reason: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class DeclassifiedColumn:
    """A column that a model takes a tag off, in the open. `path` is the way of the tag to it.

    `written` and `carried_out` say since when, where that was asked for and is known.
    """

    model: str
    column: str
    classification: str
    reason: str
    approved_by: str
    path: tuple[str, ...]
    written: WrittenDown | None = None
    carried_out: CarriedOut | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ComplianceReport(Digested):
    """What is known of classified columns. `failed` when exceptions are there and must not be.

    `probed` is what was seen in tables, where that was asked for.
    """

    summary: ComplianceSummary
    envs: tuple[str, ...]
    per_column: tuple[ColumnCompliance, ...]
    exceptions: tuple[ComplianceException, ...]
    declassified: tuple[DeclassifiedColumn, ...]
    failed: bool
    probed: tuple[ProbedColumn, ...] = ()

    def digest(self) -> Digest:
        """How many columns, and how many exceptions."""
        numbers = {
            "classified column": self.summary.total_classified,
            "exception": self.summary.total_exceptions,
        }
        title = counts(**numbers)
        rows = ((each.model, each.column, each.env, each.reason) for each in self.exceptions)
        return Digest(title, ("model", "column", "env", "reason"), rows, len(self.exceptions))


def compliance(workspace: Workspace, request: ComplianceRequest) -> ComplianceReport:
    """Look up every classified column. Raises ErrorsFound: of a broken model nothing is known.

    Of what was declassified the logs of tables are read when that is asked for, and git is asked.
    To probe, tables are read as the environment that was chosen leaves them; without one, that of
    no name.
    """
    _refuse_contradictions(request)
    workspace = known_branch(workspace, sure=False)
    compilation = compile_workspace(workspace)
    refuse_errors(compilation, _foreign_errors(compilation), undone="nothing was looked up")
    project, facts = compilation.project, classify(compilation)
    environments = environments_of(project)
    found = find_protection(compilation, facts, environments)
    env = project.env or DEFAULT
    probed = probe(workspace, compilation, found, env) if request.probe else ()
    exceptions = (*_exceptions(found), *_seen_clear(found, probed, env))
    if request.exceptions_only:
        open_to = {(each.model, each.column, each.classification) for each in exceptions}
        probed = tuple(
            each for each in probed if (each.model, each.column, each.classification) in open_to
        )
    records = DeclassificationRecords(workspace, project) if request.declassified else None
    shown = tuple(
        _column(each)
        for each in (() if request.declassified else found)
        if not request.exceptions_only or any(env.state == "exposed" for env in each.envs)
    )
    return ComplianceReport(
        _summary(found, len(exceptions)),
        tuple(each or DEFAULT for each in environments),
        shown,
        exceptions,
        tuple(_declassified(project, each, records) for each in _once(facts.declassified)),
        request.fail_on == "exception" and bool(exceptions),
        probed,
    )


def _foreign_errors(compilation: Compilation) -> tuple[Diagnostic, ...]:
    first, last = _OWN
    return tuple(
        each
        for each in errors_in(compilation.diagnostics)
        if not first <= each.code.value <= last and each.code.value != "W004"
    )


def _summary(found: Iterable[ClassifiedColumn], exceptions: int) -> ComplianceSummary:
    states = [{env.state for env in each.envs} for each in found]
    return ComplianceSummary(
        total_classified=len(states),
        total_masked=sum(each <= {"masked", "not_stored"} for each in states),
        total_exceptions=exceptions,
        total_clear_by_decision=sum("clear_by_decision" in each for each in states),
        total_allowed=sum("allowed" in each for each in states),
    )


def _refuse_contradictions(request: ComplianceRequest) -> None:
    others = {
        "--exceptions-only": request.exceptions_only,
        "--fail-on": request.fail_on is not None,
        "--probe": request.probe,
    }
    option = next((name for name, given in others.items() if given), None)
    if request.declassified and option is not None:
        raise InvalidRequest(
            f"`--declassified` lists what is no exception: leave it or `{option}` out"
        )


def _once(found: Iterable[Declassified]) -> Iterable[Declassified]:
    """One of each block: a tag may have come to several fields of its column."""
    return {(each.model, each.place): each for each in found}.values()


def _declassified(
    project: Project, found: Declassified, records: DeclassificationRecords | None
) -> DeclassifiedColumn:
    model = project.models[found.model]
    said = model.settings.declassify[found.place]
    return DeclassifiedColumn(
        model.name,
        said.column,
        said.tag,
        str(written(said.reason)),
        str(written(said.approved_by)),
        path_of(found.fact),
        None if records is None else records.written(model, found.place),
        None if records is None else records.carried_out(model, found.place),
    )


def path_of(fact: TagFact) -> tuple[str, ...]:
    """The way of a tag to a column, as names."""
    steps = reversed([*fact.steps()])
    return tuple(".".join((*each.column, *filter(None, [each.field]))) for each in steps)


def _column(found: ClassifiedColumn) -> ColumnCompliance:
    return ColumnCompliance(
        found.table,
        found.name,
        found.fact.tag,
        found.fact.declared,
        path_of(found.fact),
        tuple(_env(each) for each in found.envs),
    )


def _env(found: Protected) -> EnvProtection:
    strategy = None if found.strategy is None else str(found.strategy)
    return EnvProtection(found.env, strategy, found.enforced, found.state, found.level, found.by)


def _seen_clear(
    found: Iterable[ClassifiedColumn], probed: Iterable[ProbedColumn], env: str
) -> Iterable[ComplianceException]:
    """What a reader saw that should have been masked."""
    known = {(each.table, each.name, each.fact.tag): each for each in found}
    for seen in probed:
        column = known[seen.model, seen.column, seen.classification]
        said = next(each for each in column.envs if each.env == env)
        if is_exposed(seen, said):
            way = "the files" if seen.through == "files" else "the catalogue's rows"
            reason = f"{way} of `{seen.table}` show clear values"
            yield ComplianceException(
                seen.model, seen.column, seen.classification, env, reason, path_of(column.fact)
            )


def _exceptions(found: Iterable[ClassifiedColumn]) -> Iterable[ComplianceException]:
    for each in found:
        for env in each.envs:
            if env.state == "exposed":
                yield ComplianceException(
                    each.table, each.name, each.fact.tag, env.env, env.reason, path_of(each.fact)
                )
