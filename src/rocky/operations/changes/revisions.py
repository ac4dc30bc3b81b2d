"""Two sides of a change: a project at a commit and in the working tree, both compiled.

The working tree counts as it lies on disk, committed or not. The base's files live in a temporary
folder only as long as the `with` block: what is to be shown of them is read inside.
"""

import posixpath
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from rocky.analysis.changes.change import Change, Impact, ProjectDiff, Status, TableDiff
from rocky.analysis.changes.missing_plans import describe_uncompared
from rocky.analysis.compilation import Compilation
from rocky.diagnostics import Diagnostic, Severity
from rocky.diagnostics.render import counted
from rocky.errors import NothingSelected, ProjectNotFound, UnknownRevision
from rocky.operations.pipeline_tables import see_pipelines
from rocky.operations.python_plans import compile_analysed, judge
from rocky.operations.workspace import Workspace, project_location, unknown_name
from rocky.project import Project, load_project
from rocky.project.git import (
    ChangedFile,
    Repository,
    Snapshot,
    changed_files,
    check_out,
    current_branch,
    default_base,
    find_commit,
    find_repository,
    is_dirty,
    merge_base,
    resolve_ref,
    show_file,
)
from rocky.project.project import in_environment, mask_environments
from rocky.project.toml.parser import load_toml

Side = Literal["base", "head"]
Verdict = Annotated[str, ("breaking", "uncompared", "warning", "info", "affected", "unchanged")]
STATUSES: Final[tuple[Status, ...]] = ("modified", "added", "removed", "affected", "renamed")
SHOWN_COMMIT: Final = 12


@dataclass(frozen=True, slots=True)
class Sides:
    """Both sides, compiled, and how they are called.

    `prefix` leads from the repository's top to the project. `files` differ, which need not mean
    that any table does. `notes` is what could not be looked at: no gate passes with any.
    """

    base: Compilation
    head: Compilation
    base_ref: str
    base_commit: str
    head_ref: str
    head_commit: str
    dirty: bool
    prefix: str = ""
    files: tuple[ChangedFile, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def broken(self) -> tuple[Side, ...]:
        """The sides with errors: between those nothing can be compared."""
        both: tuple[tuple[Side, Compilation], ...] = (("base", self.base), ("head", self.head))
        return tuple(side for side, compilation in both if compilation.has_errors)

    def errors_of(self, side: Side) -> tuple[Diagnostic, ...]:
        found = self.base if side == "base" else self.head
        return tuple(each for each in found.diagnostics if each.severity is Severity.ERROR)

    def describe(self, side: Side) -> str:
        """A side as people read of it."""
        if side == "base":
            return f"`{self.base_ref}` ({self.base_commit[:SHOWN_COMMIT]})"
        return "the working tree"


@dataclass(frozen=True, slots=True)
class Difference:
    """What differs between two sides. `shown` may be a part of `whole`."""

    whole: ProjectDiff
    shown: ProjectDiff
    sides: Sides

    @property
    def verdict(self) -> Verdict:
        """The worst impact of what is shown; `affected` when only others' changes reach it.

        Where models are not compared it is known only that something breaks, never that nothing
        does.
        """
        if self.shown.uncompared and self.shown.impact is not Impact.BREAKING:
            return "uncompared"
        if self.shown.impact is not None:
            return self.shown.impact.value
        return "affected" if self.shown.tables else "unchanged"

    @property
    def notes(self) -> tuple[str, ...]:
        """What could not be looked at: no gate passes with any."""
        if not self.shown.uncompared:
            return self.sides.notes
        return (*self.sides.notes, describe_uncompared(self.shown.uncompared))

    @property
    def impacts(self) -> Counter[Impact]:
        return Counter(change.impact for _, change in self.shown.changes)

    @property
    def statuses(self) -> Counter[Status]:
        return Counter(table.status for table in self.shown.tables if table.kind == "model")

    @property
    def merely_reached(self) -> list[TableDiff]:
        """Tables that only the changes of others reach."""
        return [table for table in self.shown.tables if not table.changes]

    @property
    def breaking(self) -> list[tuple[TableDiff | None, Change]]:
        return [each for each in self.shown.changes if each[1].impact is Impact.BREAKING]


def describe_sides(difference: Difference) -> str:
    """What is compared with what."""
    sides = difference.sides
    head = f"{sides.head_ref} ({sides.head_commit[:SHOWN_COMMIT]})"
    uncommitted = " with uncommitted changes" if sides.dirty else ""
    return f"{sides.base_ref} ({sides.base_commit[:SHOWN_COMMIT]}) .. {head}{uncommitted}"


def describe_verdict(difference: Difference) -> str:
    """The whole in one line: the verdict, then what there is of each."""
    models = counted(difference.whole.total_models, "model")
    if difference.verdict == "unchanged":
        return f"nothing changed in {models}{_idle_files(difference)}"
    impacts, statuses = difference.impacts, difference.statuses
    told = [counted(impacts[Impact.BREAKING], "breaking change")]
    for impact, noun in ((Impact.WARNING, "warning"), (Impact.INFO, "note")):
        told += [counted(impacts[impact], noun)] if impacts[impact] else []
    tables = [f"{statuses[each]} {each}" for each in STATUSES if statuses[each]]
    if difference.shown.uncompared:
        told[-1] += " in what was compared"
        tables.append(f"{len(difference.shown.uncompared):,} not compared")
    return f"{', '.join(told)}; {', '.join(tables) or 'none changed'} of {models}"


def _idle_files(difference: Difference) -> str:
    """That files differ although nothing else does: a comment, a layout, a column nobody takes."""
    count = len(difference.sides.files)
    if not count or difference.whole.tables or difference.whole.settings:
        return ""
    verb = "differs" if count == 1 else "differ"
    return f"; {counted(count, 'file')} {verb} to no effect on a table"


def select_tables(diff: ProjectDiff, names: Sequence[str], sides: Sides) -> ProjectDiff:
    """The part of a difference that is about some tables; settings concern every one.

    A name may be that of before or of after. Raises NothingSelected when neither side has it.
    """
    if not names:
        return diff
    wanted = {name.replace("`", "").lower() for name in names}
    known = _names(sides)
    for name in wanted - known.keys():
        raise NothingSelected(unknown_name("model", name, sorted(set(known.values()))))
    keys = {known[name].lower() for name in wanted}
    chosen = tuple(
        table
        for table in diff.tables
        if table.name.lower() in keys or (table.base_name or "").lower() in keys
    )
    uncompared = tuple(each for each in diff.uncompared if each.name.lower() in keys)
    return replace(diff, tables=chosen, uncompared=uncompared)


def _names(sides: Sides) -> dict[str, str]:
    """What a table may be called -> its name: models also go by their targets."""
    found: dict[str, str] = {}
    for compilation in (sides.base, sides.head):
        project = compilation.project
        for group in (project.sources, project.seeds):
            found.update({key: table.name for key, table in group.items()})
        found.update({model.target.key: model.name for model in project.models.values()})
        found.update({key: model.name for key, model in project.models.items()})
    return found


@contextmanager
def open_sides(
    workspace: Workspace, ref: str | None, *, exact: bool, list_files: bool = True
) -> Iterator[Sides]:
    """Compile the base that `ref` names and the working tree.

    The base is where the two went apart, as in `git diff REF...`; with `exact` it is `ref` itself.
    Without `list_files` git is not asked which files differ.
    Raises NotARepository, GitUnavailable, UnknownRevision, ProjectNotFound, InvalidRequest.
    """
    asker = judge(workspace.environment)
    folder, config = project_location(workspace)
    head = load_project(
        folder,
        env=workspace.environment,
        config=config,
        remember=True,
        variables=workspace.variables,
    )
    if workspace.mask_env is not None:
        head = in_environment(head, workspace.mask_env)
    head = see_pipelines(head)
    repository = find_repository(folder)
    name = choose_base(workspace, repository) if ref is None else ref
    head_commit = resolve_ref(repository, "HEAD")
    named = resolve_ref(repository, name)
    commit = named if exact else merge_base(repository, named, head_commit)
    with tempfile.TemporaryDirectory(prefix="rocky-base-") as scratch:
        snapshot = check_out(
            repository,
            commit,
            Path(scratch),
            also=paths_outside(repository, commit, head.config_path),
        )
        base = _load_base(snapshot, head, workspace, f"`{name}` ({commit[:SHOWN_COMMIT]})")
        # Both sides look at the tables that are there now: git keeps none.
        base = see_pipelines(base, head.root)
        _refuse_unused(workspace, base, head)
        after = compile_analysed(head, asker)
        yield Sides(
            # In a folder of its own for the moment, so nothing of it is worth keeping.
            compile_analysed(
                base, asker, cache=False, known=after.models.records(), place=head.root
            ),
            after,
            name,
            commit,
            current_branch(repository) or "HEAD",
            head_commit,
            is_dirty(repository),
            repository.prefix,
            changed_files(repository, commit) if list_files else (),
            tuple(_note_missing(each) for each in snapshot.missing),
        )


def choose_base(workspace: Workspace, repository: Repository) -> str:
    """The base when none is named: in a pull request's build the branch it goes to."""
    target = workspace.environment.get("GITHUB_BASE_REF", "")
    if not target:
        return default_base(repository)
    name = f"origin/{target}"
    if find_commit(repository, name) is None:
        raise UnknownRevision(
            f"no commit `{name}` here, where the pull request goes: `fetch-depth: 0` in"
            " `actions/checkout` brings it"
        )
    return name


def paths_outside(repository: Repository, commit: str, config: str) -> tuple[str, ...]:
    """Paths of the repository that the settings at a commit name outside the project's folder."""
    data = show_file(repository, commit, config)
    if data is None:
        return ()
    try:
        document = load_toml(data.decode())
    except (ValueError, RecursionError):
        # Compiling will say what is wrong with it.
        return ()
    found = []
    for text in _texts_in(document):
        path = posixpath.normpath(posixpath.join(repository.prefix, text))
        if text.startswith("../") and not path.startswith(".."):
            found.append(path)
    return tuple(found)


def _texts_in(value: Any) -> Iterator[str]:
    """Every text in a TOML document, however deep."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _texts_in(each)
    elif isinstance(value, list):
        for each in value:
            yield from _texts_in(each)


def _load_base(snapshot: Snapshot, head: Project, workspace: Workspace, shown: str) -> Project:
    config = snapshot.folder / head.config_path
    if not config.is_file():
        # Not an empty project: one that was moved would look as if nothing had been there to break.
        raise ProjectNotFound(
            f"there is no `{head.config_path}` in this folder at {shown}, so there is nothing to"
            " compare with: name a base that has the project where it is now"
        )
    base = load_project(
        snapshot.folder, env=workspace.environment, config=config, variables=workspace.variables
    )
    # An environment may be new.
    known = workspace.mask_env in mask_environments(base)
    return replace(base, env=workspace.mask_env) if known else base


def _refuse_unused(workspace: Workspace, base: Project, head: Project) -> None:
    for name in workspace.variables:
        if name not in base.variables | head.variables:
            raise NothingSelected(f"no model asks for the variable `{name}`, before or after")


def _note_missing(submodule: str) -> str:
    return (
        f"the submodule `{submodule}` is not checked out: nothing in it is compared"
        f" (`git submodule update --init {submodule}`)"
    )


def as_in_working_tree(sides: Sides) -> Project:
    """The base's project with paths that are shown as those of the working tree."""
    return replace(sides.base.project, root=sides.head.project.root)
