"""A dbt project read without dbt: its settings, properties, templates and installed packages."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from rocky.dbt.built_in_macros import BUILT_IN
from rocky.dbt.hooks import project_hooks
from rocky.dbt.manifest import read_columns, read_unit_test
from rocky.dbt.package_files import is_below, is_file_below
from rocky.dbt.properties import Properties, read_properties
from rocky.dbt.sandbox import RENDER_ERRORS, Clock, Sandbox, Unrenderable, no_clock
from rocky.dbt.template_names import TemplateNames
from rocky.dbt.templates import render_node
from rocky.dbt.values import (
    DbtProject,
    Exposure,
    GenericTest,
    Kind,
    Macro,
    Node,
    Source,
    UnitTest,
)
from rocky.dbt.yaml_files import folder_settings, load_yaml, merged
from rocky.errors import ImportRefused

PROJECT_FILE: Final = "dbt_project.yml"
_MACRO: Final = re.compile(
    r"\{%-?\s*(?P<kind>macro|test|data_test)\s+(?P<name>\w+).*?\{%-?\s*end(?P=kind)\s*-?%\}",
    re.DOTALL,
)
_SNAPSHOT: Final = re.compile(
    r"\{%-?\s*snapshot\s+(?P<name>\w+)\s*-?%\}(?P<text>.*?)\{%-?\s*endsnapshot\s*-?%\}", re.DOTALL
)
_DOCS: Final = re.compile(r"\{%-?\s*docs\s+(\w+)\s*-?%\}(.*?)\{%-?\s*enddocs\s*-?%\}", re.DOTALL)
_DOC: Final = re.compile(r"\{\{\s*doc\(\s*(?:['\"]\w+['\"]\s*,\s*)?['\"](\w+)['\"]\s*\)\s*\}\}")
_REF: Final = re.compile(r"ref\(\s*(?:['\"]\w+['\"]\s*,\s*)?['\"](\w+)['\"]")
_EXPRESSION: Final = re.compile(r"\s*\{\{(.*)\}\}\s*", re.DOTALL)
_NO_FILES: Final = frozenset({"target", "dbt_packages", "logs"})


@dataclass(slots=True)
class _Found:
    """What has been read so far, of all packages."""

    nodes: dict[str, Node] = field(default_factory=dict)
    sources: dict[str, Source] = field(default_factory=dict)
    macros: list[Macro] = field(default_factory=list)
    exposures: list[Exposure] = field(default_factory=list)
    groups: dict[str, str] = field(default_factory=dict)
    unit_tests: list[UnitTest] = field(default_factory=list)
    variables: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def load_settings(root: Path) -> Mapping[str, Any]:
    """`dbt_project.yml`. Raises ImportRefused where there is none."""
    path = root / PROJECT_FILE
    if not path.is_file():
        raise ImportRefused(f"no `{PROJECT_FILE}` in `{root}`: name the folder of a dbt project")
    return load_yaml(path, root)


def hook_remarks(root: Path, macros: Iterable[Macro]) -> tuple[str, ...]:
    """What is not taken over of a project's own hooks: no model needs to show that it is gone."""
    text = (root / PROJECT_FILE).read_text(encoding="utf-8", errors="replace")
    return tuple(project_hooks(load_settings(root), text, PROJECT_FILE, macros))


def load_variables(root: Path) -> dict[str, Mapping[str, Any]]:
    """The variables of a project and of its packages, by package."""
    found: dict[str, Mapping[str, Any]] = {}
    for folder, settings in installed_packages(root):
        _add_variables(found, settings, is_root=folder == root)
    return found


def _add_variables(
    found: dict[str, Mapping[str, Any]], settings: Mapping[str, Any], *, is_root: bool
) -> None:
    values = settings.get("vars")
    name = str(settings.get("name") or "")
    if not isinstance(values, Mapping):
        return
    flat = {str(key): each for key, each in values.items() if not isinstance(each, Mapping)}
    for package, inner in values.items():
        if isinstance(inner, Mapping):
            flat[str(package)] = inner
            if is_root or package == name:
                # What the project says of a package counts more than what that says itself.
                found[str(package)] = {**found.get(str(package), {}), **inner}
    found[name] = {**flat, **found.get(name, {})}


def load_files(root: Path, clock: Clock = no_clock) -> DbtProject:
    """The project as its files say. Raises ImportRefused when `dbt_project.yml` cannot be read."""
    found = _Found()
    settings = load_settings(root)
    name = str(settings.get("name") or root.name)
    for folder, each in installed_packages(root):
        package = str(each.get("name") or folder.name)
        try:
            _Package(found, folder, each, package, root_name=name, own=settings).read()
        except ImportRefused as error:
            if folder == root:
                raise
            found.remarks.append(str(error))
    for folder in sorted((root / "dbt_packages").glob("*")):
        if not is_below(root, folder):
            found.remarks.append(f"`{folder}` leads out of the project's folder: it was not read")
    _link_tests(found)
    read = DbtProject(
        name=name,
        root=root,
        origin="files",
        nodes=found.nodes,
        sources=found.sources,
        macros=(*BUILT_IN, *found.macros),
        exposures=tuple(found.exposures),
        groups=found.groups,
        unit_tests=tuple(found.unit_tests),
        variables=load_variables(root),
        remarks=tuple(found.remarks),
    )
    read = replace(read, sources={key: _placed(read, each) for key, each in found.sources.items()})
    return replace(read, nodes=_settled(read, Sandbox(clock)))


def _placed(project: DbtProject, source: Source) -> Source:
    """A source whose schema or name is an expression, with its value."""
    parts = {"database": source.database, "schema": source.schema, "identifier": source.identifier}
    asked = Node(id="", kind="model", name="", package=source.package, path="", config=parts)
    known = _evaluated(project, asked, Sandbox())
    return replace(
        source,
        database=known.get("database"),
        schema=str(known.get("schema") or source.group),
        identifier=str(known.get("identifier") or ""),
    )


def _settled(project: DbtProject, sandbox: Sandbox) -> dict[str, Node]:
    """The nodes that are enabled, with what their templates say of them, and their tables."""
    settled: dict[str, Node] = {}
    for key, node in project.nodes.items():
        config = _evaluated(project, node, sandbox)
        if node.kind in ("model", "snapshot"):
            config = merged(config, render_node(project, node, sandbox).config or {})
        if config.get("enabled") is False:
            continue
        if node.kind == "test":
            settled[key] = replace(node, config=config)
            continue
        if node.kind == "model":
            config = {"materialized": "view", **config}
        schema = _schema_of(project, config)
        alias = str(config.get("alias") or node.name)
        settled[key] = replace(
            node, config=config, schema=schema, alias=alias, relation=f"{schema}.{alias}"
        )
    return settled


def _evaluated(project: DbtProject, node: Node, sandbox: Sandbox) -> dict[str, Any]:
    """Settings with values for expressions, as in `+enabled: "{{ var('x', true) }}"`."""
    settings = dict(node.config)
    for key, value in node.config.items():
        found = _EXPRESSION.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            continue
        names = TemplateNames(project, node, sandbox).of_package(node.package)
        try:
            settings[key] = sandbox.compile_expression(found[1])(**names)
        except (Unrenderable, *RENDER_ERRORS):
            # As if nobody had said it: what it would be is not known here.
            del settings[key]
    return settings


def installed_packages(root: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The project and the packages that `dbt deps` has installed, which come first."""
    installed = root / "dbt_packages"
    if is_below(root, installed) and installed.is_dir():
        for folder in sorted(installed.iterdir()):
            if is_file_below(root, folder / PROJECT_FILE):
                yield folder, load_yaml(folder / PROJECT_FILE, root)
    yield root, load_settings(root)


class _Package:
    """One package: reads its files into what was found."""

    def __init__(
        self,
        found: _Found,
        root: Path,
        settings: Mapping[str, Any],
        name: str,
        *,
        root_name: str,
        own: Mapping[str, Any],
    ) -> None:
        self._found, self._root, self._settings, self._name = found, root, settings, name
        self._schema, self._own = root_name, own
        self._texts: dict[str, str] = {}

    def read(self) -> None:
        for path in self._files("macro-paths", ["macros"], ".sql"):
            self._macros(path)
        for path in self._files("test-paths", ["tests"], ".sql"):
            self._macros(path)
        docs = dict(self._docs())
        properties = self._properties(docs)
        self._read_nodes("model", "model-paths", ["models"], ".sql", properties)
        self._read_nodes("seed", "seed-paths", ["seeds", "data"], ".csv", properties)
        self._snapshots(properties)
        self._read_nodes("test", "test-paths", ["tests"], ".sql", properties)
        for source in properties.sources:
            made = replace(
                source, id=f"source.{self._name}.{source.group}.{source.name}", package=self._name
            )
            self._found.sources[made.id] = made
        for call in properties.tests:
            self._found.nodes[call.id] = call
        self._found.exposures += properties.exposures
        self._found.groups |= properties.groups
        self._found.unit_tests += [read_unit_test(each) for each in properties.unit_tests]

    def _files(self, key: str, usual: list[str], suffix: str) -> Iterator[Path]:
        folders = self._settings.get(key) or usual
        for folder in folders if isinstance(folders, list) else [folders]:
            place = self._root / str(folder)
            if not is_below(self._root, place) or not place.is_dir():
                continue
            place = place.resolve()
            for path in sorted(place.rglob(f"*{suffix}")):
                inside = path.relative_to(place).parts
                if not _NO_FILES & set(inside) and is_file_below(self._root, path):
                    yield path

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root.resolve()).as_posix()

    def _macros(self, path: Path) -> None:
        text = path.read_text(encoding="utf-8", errors="replace")
        for each in _MACRO.finditer(text):
            name = each["name"] if each["kind"] == "macro" else f"test_{each['name']}"
            self._found.macros.append(Macro(self._name, name, each.group(), self._relative(path)))

    def _docs(self) -> Iterator[tuple[str, str]]:
        for path in self._files("model-paths", ["models"], ".md"):
            for name, text in _DOCS.findall(path.read_text(encoding="utf-8", errors="replace")):
                yield name, text.strip()

    def _properties(self, docs: Mapping[str, str]) -> Properties:
        files = [
            path
            for key, usual in (
                ("model-paths", "models"),
                ("seed-paths", "seeds"),
                ("snapshot-paths", "snapshots"),
            )
            for suffix in (".yml", ".yaml")
            for path in self._files(key, [usual], suffix)
        ]
        found = Properties()
        for path in dict.fromkeys(files):
            try:
                data = load_yaml(path, self._root)
            except ImportRefused as error:
                self._found.remarks.append(str(error))
                continue
            read_properties(
                found, data, self._relative(path), self._name, lambda text: _with_docs(text, docs)
            )
        return found

    def _read_nodes(
        self, kind: Kind, key: str, usual: list[str], suffix: str, properties: Properties
    ) -> None:
        for path in self._files(key, usual, suffix):
            relative = self._relative(path)
            text = "" if kind == "seed" else path.read_text(encoding="utf-8", errors="replace")
            if kind == "test" and _MACRO.search(text):
                continue
            folders = Path(relative).parent.parts[1:]
            self._add(kind, path.stem, relative, text.strip(), folders, properties)

    def _snapshots(self, properties: Properties) -> None:
        for path in self._files("snapshot-paths", ["snapshots"], ".sql"):
            text = path.read_text(encoding="utf-8", errors="replace")
            for each in _SNAPSHOT.finditer(text):
                folders = Path(self._relative(path)).parent.parts[1:]
                self._add(
                    "snapshot",
                    each["name"],
                    self._relative(path),
                    each["text"],
                    folders,
                    properties,
                )
        for name, said in properties.of("snapshot").items():
            relation = said.data.get("relation")
            if relation and f"snapshot.{self._name}.{name}" not in self._found.nodes:
                text = f"select * from {{{{ {relation} }}}}"  # noqa: S608 - as dbt writes it
                self._add("snapshot", name, said.path, text, (), properties)

    def _add(
        self,
        kind: Kind,
        name: str,
        path: str,
        text: str,
        folders: Iterable[str],
        properties: Properties,
    ) -> None:
        block = f"{kind}s" if kind != "test" else "data_tests"
        said = properties.of(kind).get(name)
        way = (*folders, name)
        config = folder_settings(self._settings.get(block), self._name, way)
        if self._own is not self._settings:
            config = merged(config, folder_settings(self._own.get(block), self._name, way))
        if said is not None:
            config = merged(config, said.config)
        made = Node(
            id=f"{kind}.{self._name}.{name}",
            kind=kind,
            name=name,
            package=self._name,
            path=path,
            text=text,
            config=config,
            columns=read_columns(said.data.get("columns") or ()) if said else {},
            description=said.description if said else "",
            group=str(config["group"]) if config.get("group") else None,
        )
        self._found.nodes[made.id] = made


def _schema_of(project: DbtProject, config: Mapping[str, Any]) -> str:
    """The schema that dbt would choose: the project's own, and a custom one behind it.

    A project with a macro `generate_schema_name` names schemas itself, as most such macros do.
    """
    custom = config.get("target_schema") or config.get("schema")
    if not custom:
        return project.name
    own = any(each.name.endswith("generate_schema_name") for each in project.macros)
    return str(custom) if own or config.get("target_schema") else f"{project.name}_{custom}"


def _with_docs(text: str, docs: Mapping[str, str]) -> str:
    return _DOC.sub(lambda found: docs.get(found[1], ""), text)


def _link_tests(found: _Found) -> None:
    """The ids of what tests and exposures are about, which their files call by name."""
    by_name = {each.name: each.id for each in found.nodes.values() if each.kind != "test"}
    for key, node in list(found.nodes.items()):
        if node.test is not None and not node.test.attached.startswith("source."):
            attached = by_name.get(node.test.attached, "")
            call: GenericTest = replace(node.test, attached=attached)
            found.nodes[key] = replace(node, test=call, reads=(attached,))
    found.exposures = [
        replace(each, reads=tuple(by_name.get(name, "") for name in _names(each.reads)))
        for each in found.exposures
    ]


def _names(reads: Iterable[str]) -> Iterator[str]:
    for each in reads:
        yield from _REF.findall(each)
