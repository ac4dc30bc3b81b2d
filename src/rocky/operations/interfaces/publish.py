"""Publish: the interface of the project's tables, for other projects to build on.

The other way round, the interfaces of projects that read this one (`consumers`) are looked at by a
compile, which reports what would break them.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rocky.analysis.changes.change import Impact
from rocky.analysis.changes.declarations import InterfaceChange, compare_interfaces
from rocky.analysis.classification import Classifications, classify
from rocky.analysis.compilation import Compilation
from rocky.analysis.imports.consumers import check_consumers, load_consumers
from rocky.analysis.imports.findings import rebinding
from rocky.analysis.imports.publication import encode_interface, publish_interface
from rocky.analysis.imports.published_tags import find_published_tags
from rocky.compiler.passes import place_origins
from rocky.diagnostics import Diagnostic
from rocky.diagnostics.render import counted
from rocky.diagnostics.suppression import apply_suppressions
from rocky.errors import InterfaceRefused, NothingSelected
from rocky.operations.digest import Digested
from rocky.operations.findings import ErrorsFound, errors_in
from rocky.operations.report import Blake3, hidden
from rocky.operations.workspace import Workspace, compile_workspace
from rocky.plan.arguments import Request
from rocky.plan.selectors import select_models
from rocky.project import Project
from rocky.project.configuration.strategies import has_target
from rocky.project.files import is_inside, write_atomically
from rocky.project.interfaces import Interface, decode_interface


@dataclass(frozen=True, slots=True)
class PublishRequest(Request):
    """Which models: without any those of `models` in `[publish]`, else all that have a table.

    `out` is the file, without it that of `[publish]`. A `check` writes nothing.
    """

    selectors: tuple[str, ...] = ()
    out: Path | None = None
    check: bool = False


@dataclass(frozen=True, slots=True)
class PublishedChange:
    """A change of a published table; `read_by` are models of this project that read it."""

    table: str
    model: str
    column: str | None
    rule: str
    impact: Impact
    before: str | None
    after: str | None
    read_by: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class PublishReport(Digested):
    """The interface, and what of it is new next to the file. `existed` says whether that was there.

    There are no changes next to a file that is no interface.
    """

    existed: bool = hidden()
    path: str
    project: str
    interface_hash: Blake3
    tables: tuple[str, ...]
    reads: tuple[str, ...]
    check: bool
    up_to_date: bool
    written: bool
    changes: tuple[PublishedChange, ...]

    @property
    def failed(self) -> bool:
        return self.check and not self.up_to_date


class PublicationRefused(InterfaceRefused, ErrorsFound):
    """A project with errors is not published; `findings` says which."""

    kind = InterfaceRefused.__name__


def publish(workspace: Workspace, request: PublishRequest) -> PublishReport:
    """Write the interface, unless the file is up to date or this is a check.

    Raises PublicationRefused, InterfaceRefused, NothingSelected, OSError; then nothing is written.
    """
    compilation = compile_workspace(workspace)
    project = compilation.project
    _refuse_errors(errors_in(compilation.diagnostics), project)
    keys = find_published(compilation, request.selectors or project.config.publish.models)
    if not keys:
        raise NothingSelected(
            "none of the selected models has a table: there is nothing to publish"
        )
    rebind, facts = rebinding(compilation), classify(compilation)
    _refuse_errors(list(_clear_columns(compilation, keys, facts)), project)
    content = publish_interface(project, compilation.models, keys, rebind, facts)
    text = encode_interface(content)
    path = request.out if request.out is not None else project.root / project.config.publish.out
    _refuse_outside(path, project.root)
    interface = decode_interface(path.name, text)
    if not isinstance(interface, Interface):
        raise InterfaceRefused(f"this project cannot be published: {interface.message}")
    before = _on_disk(path)
    is_current = before == interface.text
    if not request.check and not is_current:
        _refuse_foreign(path, before)
        write_atomically(path, text)
    return PublishReport(
        existed=before is not None,
        path=str(path),
        project=interface.project,
        interface_hash=interface.hash,
        tables=tuple(table.target for table in interface.tables),
        reads=tuple(read.table for read in interface.reads),
        check=request.check,
        up_to_date=is_current,
        written=not request.check and not is_current,
        changes=() if is_current else _changes(path, before, interface),
    )


def _refuse_errors(errors: Sequence[Diagnostic], project: Project) -> None:
    if errors:
        count = counted(len(errors), "error")
        raise PublicationRefused(f"{count}: nothing was published", errors, project)


def _clear_columns(
    compilation: Compilation, keys: Iterable[str], facts: Classifications
) -> Iterator[Diagnostic]:
    for found in find_published_tags(compilation, keys, facts):
        yield place_origins(found, compilation.project, compilation.models)


def with_published_tags(compilation: Compilation) -> Compilation:
    """The compilation, with what `[publish]` would give to others in clear."""
    published = find_published(compilation, compilation.project.config.publish.models)
    found = _clear_columns(compilation, published, classify(compilation))
    return replace(compilation, diagnostics=(*compilation.diagnostics, *found))


def _changes(path: Path, before: str | None, interface: Interface) -> tuple[PublishedChange, ...]:
    found = decode_interface(path.name, before) if before is not None else None
    if not isinstance(found, Interface):
        return ()
    return tuple(describe_published(each) for each in compare_interfaces(found, interface))


def describe_published(found: InterfaceChange, read_by: Sequence[str] = ()) -> PublishedChange:
    """A change of a published table as programs get it."""
    change = found.change
    return PublishedChange(
        found.target,
        found.model,
        change.column,
        change.rule,
        change.impact,
        change.before,
        change.after,
        tuple(read_by),
    )


def _on_disk(path: Path) -> str | None:
    """The file as it is; None when there is none. Raises OSError when that cannot be told."""
    try:
        return path.read_bytes().decode(errors="replace")
    except FileNotFoundError:
        return None


def _refuse_outside(path: Path, root: Path) -> None:
    """An interface is a file of its project, reviewed with it; no link leads to another place."""
    if not is_inside(path, root):
        raise InterfaceRefused(
            f"`{path}` is not in the project's folder `{root}`, or leads out of it: name a file"
            " inside it, and copy it from there to where others fetch it"
        )


def _refuse_foreign(path: Path, before: str | None) -> None:
    """Whatever else lies where the interface shall be written was not put there to be lost."""
    # Told by its text alone: one that was edited, or is full of conflicts, may well be replaced.
    if before is not None and before.strip() and '"interface_version"' not in before:
        raise InterfaceRefused(
            f"`{path}` exists and is not an interface: remove it, or name another file"
        )


def find_published(compilation: Compilation, selectors: Sequence[str]) -> list[str]:
    """The selected models that leave a table or a view, which others may build on."""
    models = compilation.project.models
    keys = select_models(compilation, selectors)
    return [key for key in keys if has_target(models[key].strategy)]


def with_consumers(compilation: Compilation, given: Sequence[Path]) -> Compilation:
    """The compilation, with what it would break of the files given and of those in `[publish]`.

    Raises InterfaceRefused when nothing says what consumers call this project.
    """
    project = compilation.project
    paths = (*given, *(project.root / path for path in project.config.publish.consumers))
    consumers, wrong = load_consumers(paths)
    published = find_published(compilation, project.config.publish.models)
    found = [
        *wrong,
        *check_consumers(project, compilation.models, consumers, published, classify(compilation)),
    ]
    levels = {model.path: model.lints for model in project.models.values()}
    kept = apply_suppressions(found, {}, project.config.lints, levels)
    return replace(compilation, diagnostics=(*compilation.diagnostics, *kept))
