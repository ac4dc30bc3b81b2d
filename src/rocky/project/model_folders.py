"""Models folder by folder: each with what it takes from its folder and those above.

Defaults flow from a folder to those below it. A file among the models that is none of theirs is a
contract, a module that Python models import, or a finding.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from blake3 import blake3

from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.suggestion import NameIndex
from rocky.project.cache import ModelCache
from rocky.project.configuration.config import ModelPattern
from rocky.project.configuration.model import NO_DEFAULTS, FolderDefaults
from rocky.project.files import Folder, Reads, Stamp, child_path, read_once, read_text
from rocky.project.inheritance import Inherited, inherit, inherit_defaults
from rocky.project.model_files import LoadContext, load_model
from rocky.project.model_reload import ModelStart
from rocky.project.models import ModelFile
from rocky.project.toml.documents import Problems, digest_data, parse_document
from rocky.project.toml.records import reader_for

FileStamps = tuple[Stamp, Stamp | None]
"""Those of a model's file and of its sidecar."""


@dataclass(slots=True)
class ModelsFound:
    """What the walk found so far: models, contract files with the model of their stem."""

    models: list[ModelFile] = field(default_factory=list)
    contracts: list[tuple[str, ModelFile | None]] = field(default_factory=list)
    matched: set[ModelPattern] = field(default_factory=set)
    unmatched: list[ModelPattern] = field(default_factory=list)
    starts: Mapping[str, ModelStart] = field(default_factory=dict)


@dataclass(slots=True)
class FolderLoader:
    """Loads the folders of one walk, parents first."""

    loading: LoadContext
    patterns: list[ModelPattern]
    memory: ModelCache
    found: ModelsFound = field(default_factory=ModelsFound)
    defaults: dict[str, tuple[FolderDefaults, bytes]] = field(default_factory=dict)
    modules: dict[str, bytes] = field(default_factory=dict)
    reads: Reads = field(default_factory=dict)
    starts: dict[str, ModelStart] = field(default_factory=dict)

    def load_folder(self, folder: Folder) -> None:
        """Load the models of one folder; what is wrong with them is reported."""
        stems: dict[str, str] = {}
        python: dict[str, str] = {}
        rocky: dict[str, str] = {}
        sidecars: dict[str, str] = {}
        contracts: list[str] = []
        modules: list[str] = []
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
            elif name.endswith(".py"):
                # A leading underscore marks what models import: helpers are no models.
                if name.startswith("_"):
                    modules.append(name)
                else:
                    python[name[:-3]] = name
            elif name.endswith(".rocky"):
                rocky[name[:-6]] = name
        inherited = self._folder_defaults(folder.path, has_defaults=has_defaults)
        self._note_modules(folder.path, modules)
        names = [*stems.values(), *rocky.values(), *python.values()]
        models = self._load_models(folder, names, sidecars, inherited)
        for name in contracts:
            stem = name.removesuffix(".contract.toml")
            self.found.contracts.append((child_path(folder.path, name), models.get(stem)))
        for stem in sorted(sidecars.keys() - stems.keys() - rocky.keys() - python.keys()):
            path = child_path(folder.path, sidecars[stem])
            self.loading.report(_lone_sidecar(path, stem, names))

    def _load_models(
        self,
        folder: Folder,
        names: list[str],
        sidecars: Mapping[str, str],
        inherited: tuple[FolderDefaults, bytes],
    ) -> dict[str, ModelFile]:
        bases: dict[ModelPattern, Inherited] = {}
        models: dict[str, ModelFile] = {}
        prefix = folder.path + "/" if folder.path else ""
        stamp_of = folder.stamps.get
        recall = self.memory.recall
        for name in names:
            stem = name[: name.rfind(".")]
            path = prefix + name
            pattern = next((one for one in self.patterns if one.owns(path)), None)
            if pattern is None:
                continue
            base = bases.get(pattern)
            if base is None:
                base = bases[pattern] = inherit(
                    self.loading.root, pattern, *inherited, self.loading.shared
                )
                self.found.matched.add(pattern)
            own = sidecars.get(stem)
            sidecar = prefix + own if own else None
            stamp = stamp_of(name)
            own_stamp = stamp_of(own) if own else None
            # A sidecar without a stamp is one that nobody saved.
            stamps = (stamp, own_stamp) if stamp and bool(own) == bool(own_stamp) else None
            row = recall(path, stamps, base.digest) if stamps else None
            if row:
                model = ModelFile.remembered(path, row, sidecar, base)
                self.starts[path] = ModelStart(sidecar, base)
            else:
                model = self._load(path, sidecar, stamps, base)
            if model.is_python:
                self._add_modules(model, folder.path)
            models[stem] = model
            self.found.models.append(model)
        return models

    def _load(
        self, path: str, sidecar: str | None, stamps: FileStamps | None, base: Inherited
    ) -> ModelFile:
        before = len(self.loading.diagnostics)
        model = load_model(path, sidecar, stamps, base, self.loading)
        self.starts[path] = ModelStart(sidecar, base, tuple(self.loading.diagnostics[before:]))
        return model

    def _note_modules(self, folder: str, names: list[str]) -> None:
        """Remember what Python models of a folder may import: its own files and those above."""
        found = self.modules.get(folder.rpartition("/")[0], b"") if folder else b""
        root = Path(self.loading.root).absolute()
        for name in sorted(names):
            try:
                data = read_once(str(root / folder / name), self.reads)
            except OSError:
                # Whoever imports it will say so.
                data = b""
            found += blake3(name.encode("utf-8", "surrogateescape") + b"\0" + data).digest()
        self.modules[folder] = found

    def _add_modules(self, model: ModelFile, folder: str) -> None:
        """Whatever a Python model imports is part of its code."""
        # Its modules are parsed: a project without Python models shall not wait for that.
        from rocky.project.python_imports import find_imports  # noqa: PLC0415

        model.imports = find_imports(Path(self.loading.root), model.path, model.text, self.reads)
        model.modules = self.modules[folder] + model.imports.digest
        if model.modules:
            model.settings_hash = blake3(model.settings_hash + model.modules).digest()

    def _folder_defaults(self, folder: str, *, has_defaults: bool) -> tuple[FolderDefaults, bytes]:
        merged = self.defaults.get(folder.rpartition("/")[0], (NO_DEFAULTS, b""))
        if has_defaults:
            path = child_path(folder, "_defaults.toml")
            report = self.loading.report
            read = read_text(self.loading.root, path, report)
            document = parse_document(path, read[0], self.loading.env, report) if read else None
            if document:
                problems: Problems = []
                own = reader_for(FolderDefaults)(document.data, (), problems)
                made = inherit_defaults(merged[0], own, self.loading.shared, problems)
                for problem in problems:
                    report(document.diagnose(problem))
                merged = made, merged[1] + digest_data(document)
        self.defaults[folder] = merged
        return merged


def _lone_sidecar(path: str, stem: str, names: Iterable[str]) -> Diagnostic:
    models = {name[: name.rfind(".")]: name for name in names}
    near = NameIndex(models).closest(stem)
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"the sidecar `{path}` has no model `{stem}.sql` beside it",
        None,
        path,
        help=f"did you mean `{models[near]}`?" if near else "name the sidecar like its model",
    )
