"""Loading models: folders to `ModelFile`s, defaults flowing from a folder to those below.

This is the hot loop of loading: ten thousand models pass through `_load_model`, so the
plain case does two small reads, two hashes and one record each.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.suggest import suggestion
from rocky.project.digests import digest_data
from rocky.project.documents import Document, Problem, parse_document
from rocky.project.files import Folder, Report, child_path, read_text
from rocky.project.models import FrontMatter, ModelFile, Target, find_front_matter
from rocky.project.patterns import ModelPattern
from rocky.project.settings import (
    NO_DEFAULTS,
    FolderDefaults,
    ModelSettings,
    TargetSetting,
    merge_defaults,
    merge_freshness,
)
from rocky.project.shapes import Problems, read_record, reader_for
from rocky.project.strategies import FullRefresh
from rocky.source import Span

_FULL_REFRESH: Final = FullRefresh()
_NO_TARGET: Final = TargetSetting()
_NO_SETTINGS: Final = ModelSettings()


@dataclass(slots=True)
class ModelsFound:
    """What the walk found so far: models, blocked names, contract files by their folder."""

    models: list[ModelFile] = field(default_factory=list)
    blocked: set[str] = field(default_factory=set)
    contracts: list[tuple[str, ModelFile | None]] = field(default_factory=list)
    matched: set[ModelPattern] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Inherited:
    """What every model of a folder starts from; made once a folder and pattern."""

    defaults: FolderDefaults
    settings: ModelSettings
    catalog: str
    schema: str
    digest: bytes


@dataclass(slots=True)
class FolderLoader:
    """Loads the folders of one walk, parents first."""

    root: str
    env: Mapping[str, str]
    patterns: list[ModelPattern]
    report: Report
    found: ModelsFound = field(default_factory=ModelsFound)
    defaults: dict[str, tuple[FolderDefaults, bytes]] = field(default_factory=dict)

    def load_folder(self, folder: Folder) -> None:
        """Load the models of one folder; what is wrong with them is reported."""
        stems: dict[str, str] = {}
        sidecars: dict[str, str] = {}
        contracts: list[str] = []
        has_defaults = False
        for name in folder.names:
            if name.endswith(".sql") or name.lower().endswith(".sql"):
                stems[name[:-4]] = name
            elif name == "_defaults.toml":
                has_defaults = True
            elif name.endswith(".contract.toml"):
                contracts.append(name)
            elif name.endswith(".toml"):
                sidecars[name[:-5]] = name
            elif name.endswith(".rocky"):
                self._report_dsl(folder.path, name)
        inherited = self._folder_defaults(folder.path, has_defaults=has_defaults)
        models = self._load_models(folder.path, stems, sidecars, inherited)
        for name in contracts:
            stem = name.removesuffix(".contract.toml")
            self.found.contracts.append((child_path(folder.path, name), models.get(stem)))
        for stem in sorted(sidecars.keys() - stems.keys()):
            self._report_lone_sidecar(folder.path, sidecars[stem], stem, stems)

    def _load_models(
        self,
        folder: str,
        stems: dict[str, str],
        sidecars: dict[str, str],
        inherited: tuple[FolderDefaults, bytes],
    ) -> dict[str, ModelFile]:
        bases: dict[ModelPattern, _Inherited] = {}
        models: dict[str, ModelFile] = {}
        prefix = folder + "/" if folder else ""
        for stem, name in stems.items():
            path = prefix + name
            pattern = next((one for one in self.patterns if one.owns(path)), None)
            if pattern is None:
                continue
            base = bases.get(pattern)
            if base is None:
                base = bases[pattern] = _inherit(pattern, *inherited)
                self.found.matched.add(pattern)
            sidecar = sidecars.get(stem)
            model = self._load_model(
                path, stem, prefix + sidecar if sidecar else None, base, pattern
            )
            models[stem] = model
            self.found.models.append(model)
        return models

    def _load_model(
        self, path: str, stem: str, sidecar: str | None, base: _Inherited, pattern: ModelPattern
    ) -> ModelFile:
        """The model at `path`. When its files are unusable it is reported and blocked."""
        read = read_text(self.root, path, self.report)
        if read is None:
            self.found.blocked.add(stem.lower())
        text, data = read or ("", b"")
        sql, sql_offset, document = text, 0, None
        if "---" in text[:200]:
            matter = find_front_matter(text)
            if matter:
                sql, sql_offset = text[matter.sql_start :], matter.sql_start
                document = self._read_front_matter(path, stem, text, matter, sidecar)
        if sidecar and document is None:
            document = self._read_sidecar(sidecar, stem)
        settings, target, digest = base.settings, _NO_TARGET, base.digest
        if document:
            settings = self._read_settings(document, stem, base)
            target = settings.target
            digest = blake3(base.digest + digest_data(document)).digest()
        name = settings.name or stem
        if name != stem and stem.lower() in self.found.blocked:
            self.found.blocked.add(name.lower())
        return ModelFile(
            name,
            path,
            text,
            sql,
            sql_offset,
            Target(
                target.catalog or base.catalog, target.schema or base.schema, target.table or name
            ),
            settings,
            pattern.pipeline,
            document.path if document else None,
            document.start if document else 0,
            blake3(data).digest(),
            digest,
        )

    def _read_sidecar(self, path: str, stem: str) -> Document | None:
        read = read_text(self.root, path, self.report)
        document = (
            parse_document(path, read[0], self.env, self.report, model=stem) if read else None
        )
        if document is None:
            self.found.blocked.add(stem.lower())
        return document

    def _read_front_matter(
        self, path: str, stem: str, text: str, matter: FrontMatter, sidecar: str | None
    ) -> Document | None:
        opening = Span(text.index("---"), matter.start)
        if matter.end is None:
            self._block(stem, path, "the front matter is not closed", opening, "add a line `---`")
            return None
        if sidecar:
            self.report(
                Diagnostic(
                    Code.UNUSABLE_FILE,
                    f"model `{stem}` has front matter and a sidecar",
                    opening,
                    path,
                    labels=(Label(None, "the sidecar", sidecar),),
                    help=f"move the settings of one into the other; `{sidecar}` is not read",
                    model=stem,
                )
            )
        body = text[matter.start : matter.end]
        document = parse_document(path, body, self.env, self.report, start=matter.start, model=stem)
        if document is None:
            self.found.blocked.add(stem.lower())
        return document

    def _read_settings(self, document: Document, stem: str, base: _Inherited) -> ModelSettings:
        problems: Problems = []
        own = read_record(ModelSettings, document.data, (), problems) or _NO_SETTINGS
        if own.name is not None and not _is_name(own.name):
            problems.append(_bad_name(("name",)))
            own = own._replace(name=None)
        for problem in problems:
            self.report(document.diagnose(problem, model=stem))
        return _merge_settings(own, base)

    def _folder_defaults(self, folder: str, *, has_defaults: bool) -> tuple[FolderDefaults, bytes]:
        above = self.defaults.get(folder.rpartition("/")[0], (NO_DEFAULTS, b""))
        merged = above
        if has_defaults:
            path = child_path(folder, "_defaults.toml")
            read = read_text(self.root, path, self.report)
            document = parse_document(path, read[0], self.env, self.report) if read else None
            if document:
                problems: Problems = []
                own = reader_for(FolderDefaults)(document.data, (), problems)
                for problem in problems:
                    self.report(document.diagnose(problem))
                merged = merge_defaults(above[0], own), above[1] + digest_data(document)
        self.defaults[folder] = merged
        return merged

    def _block(self, stem: str, path: str, message: str, span: Span, hint: str) -> None:
        self.found.blocked.add(stem.lower())
        self.report(Diagnostic(Code.UNUSABLE_FILE, message, span, path, help=hint, model=stem))

    def _report_lone_sidecar(
        self, folder: str, name: str, stem: str, stems: dict[str, str]
    ) -> None:
        path = child_path(folder, name)
        near = suggestion(f"{stem}.sql", stems.values())
        self.report(
            Diagnostic(
                Code.UNUSABLE_FILE,
                f"the sidecar `{path}` has no model `{stem}.sql` beside it",
                None,
                path,
                help=near or "name the sidecar like its model",
            )
        )

    def _report_dsl(self, folder: str, name: str) -> None:
        path = child_path(folder, name)
        self.report(
            Diagnostic(
                Code.UNUSABLE_FILE,
                f"`{path}` is not read: models are `.sql` files",
                None,
                path,
                help="write the model as one SELECT in a `.sql` file",
            )
        )


def _inherit(pattern: ModelPattern, defaults: FolderDefaults, digest: bytes) -> _Inherited:
    catalog = defaults.target.catalog or pattern.catalog
    schema = defaults.target.schema or pattern.schema
    settings = ModelSettings(
        strategy=defaults.strategy or _FULL_REFRESH,
        intent=defaults.intent,
        freshness=defaults.freshness,
        tags=defaults.tags,
        lints=defaults.lints,
    )
    own = f"{pattern.pipeline}\0{catalog}\0{schema}\0".encode()
    return _Inherited(defaults, settings, catalog, schema, blake3(own + digest).digest())


def _merge_settings(own: ModelSettings, base: _Inherited) -> ModelSettings:
    inherited = base.settings
    changes: dict[str, Any] = {}
    if own.strategy is None:
        changes["strategy"] = inherited.strategy
    if own.intent is None and inherited.intent is not None:
        changes["intent"] = inherited.intent
    if inherited.freshness is not None:
        changes["freshness"] = merge_freshness(inherited.freshness, own.freshness)
    if inherited.tags:
        changes["tags"] = {**inherited.tags, **own.tags}
    if inherited.lints:
        changes["lints"] = {**inherited.lints, **own.lints}
    return own._replace(**changes) if changes else own


def _is_name(name: str) -> bool:
    return bool(name) and "." not in name and "`" not in name and name == name.strip()


def _bad_name(at: tuple[str, ...]) -> Problem:
    return Problem(
        at,
        "a model's name is one part, without `.` or a backtick",
        "set `[target]` to choose catalog and schema",
    )
