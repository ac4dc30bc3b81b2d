"""Import: a dbt project written down as a project of Rocky's, with a report for each thing.

It is read from the manifest of its last `dbt compile`, or from the installed dbt, or from its
files; nothing of it is run, and nothing is written unless everything is.
"""

import os
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING

from rocky.errors import ImportRefused, WouldOverwrite
from rocky.operations.digest import Digest, Digested, counts
from rocky.operations.findings import errors_in
from rocky.operations.workspace import Workspace, broken_models, compile_workspace
from rocky.plan.arguments import Request

if TYPE_CHECKING:
    from rocky.dbt.values import DbtProject


@dataclass(frozen=True, slots=True)
class ImportDbtRequest(Request):
    """The folder of a dbt project, and the new or empty folder `to` write to.

    Without `to` it is one beside it. `manifest` is read in the place of the one that the last
    `dbt compile` left. With `use_dbt` an installed dbt is asked where there is none.
    """

    folder: Path
    to: Path | None = None
    manifest: Path | None = None
    use_dbt: bool = True


@dataclass(frozen=True, slots=True)
class ImportRemark:
    """A sentence about a thing; `line` is the one of its dbt file that it is about."""

    text: str
    line: int | None
    needs_hand: bool


@dataclass(frozen=True, slots=True)
class ImportedThing:
    """What became of a model, a test and so on: `written` is the file that was made of `file`."""

    kind: str
    name: str
    file: str
    written: str | None
    verdict: str
    remarks: tuple[ImportRemark, ...]


@dataclass(frozen=True, slots=True)
class ImportCounts:
    """How many things of a kind were taken as they are, rewritten, or need a hand."""

    kind: str
    as_is: int
    rewritten: int
    needs_hand: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ImportDbtReport(Digested):
    """What was written, and what is to be said of it. `read_by` is who has read the project.

    Of the new project's models, `clean` compile without an error.
    """

    folder: str
    project: str
    read_by: str
    files: tuple[str, ...]
    counts: tuple[ImportCounts, ...]
    things: tuple[ImportedThing, ...]
    models: int
    clean: int
    errors: int
    remarks: tuple[str, ...]

    def digest(self) -> Digest:
        hands = [each for each in self.things if each.verdict == "needs_hand"]
        title = f"{self.project} in {self.folder}: {counts(model=self.models)}, {self.clean} clean"
        rows = [(each.kind, each.name, each.verdict) for each in (hands or self.things)]
        return Digest(title, ("kind", "name", "verdict"), rows, len(rows))


def import_dbt(request: ImportDbtRequest, environment: Mapping[str, str]) -> ImportDbtReport:
    """Write a dbt project as one of Rocky's. Raises ImportRefused, WouldOverwrite, ExtraMissing.

    `environment` says where programs are; no other value of it is used.
    """
    # They know Jinja and YAML, an extra that nothing else needs.
    from rocky.dbt.project_files import hook_remarks  # noqa: PLC0415
    from rocky.dbt.translation import translate_project  # noqa: PLC0415

    root = request.folder
    resolved = root.resolve()
    to = request.to or resolved.with_name(f"{resolved.name}-rocky")
    _refuse_occupied(to)
    try:
        project, remarks = _load(request, environment)
        remarks += hook_remarks(root, project.macros)
        translation = translate_project(project, time.monotonic)
        remarks += translation.remarks
    except (RecursionError, MemoryError) as error:
        raise ImportRefused(
            f"`{root}` cannot be taken over: something in it is nested too deep, or too large"
        ) from error
    _write(to, translation.files)
    compilation = compile_workspace(Workspace(to, environment=environment))
    things = tuple(
        ImportedThing(
            each.kind,
            _shown(each.name),
            _shown(each.file),
            each.written,
            each.verdict,
            tuple(ImportRemark(_shown(one.text), one.line, one.needs_hand) for one in each.remarks),
        )
        for each in translation.taken
    )
    models = compilation.project.models
    return ImportDbtReport(
        folder=to.as_posix(),
        project=_shown(project.name),
        read_by=project.origin,
        files=tuple(sorted(translation.files)),
        counts=_count(things),
        things=things,
        models=len(models),
        clean=len(models) - len(broken_models(compilation)),
        errors=len(errors_in(compilation.diagnostics)),
        remarks=tuple(map(_shown, (*remarks, *project.remarks))),
    )


def _shown(text: str) -> str:
    """A text that can be printed: half of a surrogate pair, which JSON can hold, is `?`."""
    return text.encode("utf-8", "replace").decode()


def _load(
    request: ImportDbtRequest, environment: Mapping[str, str]
) -> "tuple[DbtProject, tuple[str, ...]]":
    """The project, and why it was not read in a better way."""
    from rocky.dbt.manifest import find_manifest, load_manifest  # noqa: PLC0415
    from rocky.dbt.outside_paths import find_way_out  # noqa: PLC0415
    from rocky.dbt.program import ask_dbt  # noqa: PLC0415
    from rocky.dbt.project_files import load_files, load_settings, load_variables  # noqa: PLC0415

    root = request.folder
    settings = load_settings(root)
    name = str(settings.get("name") or root.resolve().name)
    path = request.manifest
    if path is None:
        path = find_manifest(root, settings)
    if path is not None:
        read = load_manifest(path, root)
        said = (
            f"tables go to the schemas of the target that dbt compiled for, `{read.default_schema}`"
            " and others: `schema` in `rocky.toml` and in sidecars"
        )
        return replace(read, variables=load_variables(root)), (said,)
    why = "dbt was not asked"
    outside = find_way_out(root) if request.use_dbt else None
    if outside is not None:
        why = f"dbt was not asked, as {outside}"
    elif request.use_dbt:
        answer = ask_dbt(root, name, environment)
        if not isinstance(answer, str):
            return replace(answer, variables=load_variables(root)), ()
        why = answer
    said = (
        f"no manifest: {why}; Rocky has read the files itself, which knows less of packages and"
        " of macros that dbt ships"
    )
    return load_files(root, time.monotonic), (said,)


def _count(things: tuple[ImportedThing, ...]) -> tuple[ImportCounts, ...]:
    found: dict[str, dict[str, int]] = {}
    for each in things:
        of_kind = found.setdefault(each.kind, {"as_is": 0, "rewritten": 0, "needs_hand": 0})
        of_kind[each.verdict] += 1
    return tuple(ImportCounts(kind, **each) for kind, each in found.items())


def _refuse_occupied(folder: Path) -> None:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise WouldOverwrite(f"`{folder}` is not empty: name a new folder with `--to`")


def _write(folder: Path, files: Mapping[str, bytes]) -> None:
    """All files at once: made beside the folder, then put in its place."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        for path, data in files.items():
            place = scratch / path
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        scratch.chmod(0o777 & ~_umask())
        # Takes the place of an empty folder, and of no other.
        os.rename(scratch, folder)  # noqa: PTH104 - Path.rename replaces files silently elsewhere
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise


def _umask() -> int:
    now = os.umask(0)
    os.umask(now)
    return now
