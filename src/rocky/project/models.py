"""Models on disk: a `.sql`, `.rocky` or `.py` file, with an optional sidecar or front matter.

`sql` is what the compiler reads: it starts after front matter, has values in place of
`@var(...)` and macros in place of their calls, and is Spark SQL whatever was written, so
`place_in_file` leads from a span in it to one in the file. A model remembered from
an earlier load has neither text nor settings until someone asks: most of a large project nobody
does. Settings of its own win over what it takes from its folder and its pipeline.
"""

from collections.abc import Mapping
from copy import copy
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from blake3 import blake3

from rocky.diagnostics import Code
from rocky.diagnostics.diagnostic import Label, SourceText, Span
from rocky.diagnostics.suppression import is_marked
from rocky.language.dsl.mapped_text import NO_TEXT, MappedText
from rocky.language.macros.expansion import Expansion
from rocky.language.replacements import Replaced
from rocky.project.configuration.model import (
    AssertionRecord,
    Level,
    ModelSettings,
    TargetSetting,
)
from rocky.project.configuration.strategies import Strategy
from rocky.project.files import Stamp, read_unchanged
from rocky.project.inheritance import Inherited, SharedSettings, in_group, resolve_settings
from rocky.project.model_text import find_front_matter
from rocky.project.toml.parser import locate_keys
from rocky.project.toml.variables import Keys


class Target(NamedTuple):
    """The table a model is written to."""

    catalog: str
    schema: str
    table: str

    @property
    def full_name(self) -> str:
        return f"{self.catalog}.{self.schema}.{self.table}"

    @property
    def key(self) -> str:
        """The full name as Spark compares it."""
        return self.full_name.lower()


class SettingsPlace(NamedTuple):
    """The file a model's own settings are in and where the TOML begins in it."""

    path: str
    start: int


# What is remembered of a model, in plain values: the stamps of its file and its sidecar, the
# digest of what it inherits, its hashes, `marked`, `sql_offset`, where its own TOML begins
# and what that says. A tuple as it is stored: ten thousand records would cost more to make
# than to read.
Row = tuple[
    tuple[Stamp, Stamp | None],
    bytes,
    tuple[bytes, bytes],
    bool,
    int,
    int,
    dict[str, Any] | None,
]


_NO_TARGET: Final = TargetSetting()


def stem_of(path: str) -> str:
    return path[path.rfind("/") + 1 : path.rfind(".")]


NO_CODE: Final[Mapping[str, bytes]] = MappingProxyType({})


class Imports(NamedTuple):
    """What a model's code is made of besides its own file.

    `digest` is empty where it imports nothing that counts, `files` are those of the project, and
    `doubt` is why more than that may have a say. `outside` are the versions of what is not the
    project's; `irregularity` is what of all its code is not plain, if anything is. `code` has the
    bytes that the digest was made from, by the paths that the project writes: what is run is these.
    """

    digest: bytes = b""
    files: tuple[Path, ...] = ()
    doubt: str | None = None
    outside: str = ""
    irregularity: str | None = None
    code: Mapping[str, bytes] = NO_CODE


NO_IMPORTS: Final = Imports()


class ModelFile:
    """A model as it stands on disk. Never changed after loading.

    `text_hash` is the BLAKE3 digest of the file's bytes, `settings_hash` one of everything
    in TOML that has a say in this model. `marked` tells whether the text speaks of Rocky, so
    that only such texts are searched for allows. `setting_expansions` are the macros in the SQL of
    settings, by keys, None where they cannot be expanded. `modules` is a digest of the files that a
    Python model may import from its folder and those above, and of all that `imports` found. `row`
    is what a later load needs to remember the model, None when it must not: a model with variables
    or macros depends on more than files. `lowered` is the SQL of a `.rocky` model, made when it is
    first asked for.
    """

    __slots__ = (
        "_data",
        "_inherited",
        "_settings",
        "_text",
        "depends_on",
        "expanded",
        "filled",
        "imports",
        "lowered",
        "marked",
        "modules",
        "name",
        "path",
        "pipeline",
        "row",
        "setting_expansions",
        "settings_hash",
        "settings_place",
        "sql_offset",
        "target",
        "text_hash",
    )

    def __init__(
        self,
        name: str,
        path: str,
        inherited: Inherited,
        own_target: TargetSetting,
        hashes: tuple[bytes, bytes],
    ) -> None:
        self.name = name
        self.path = path
        self.pipeline = inherited.pipeline
        self.target = Target(
            own_target.catalog or inherited.catalog,
            own_target.schema or inherited.schema,
            own_target.table or name,
        )
        self.text_hash, self.settings_hash = hashes
        self.depends_on: tuple[str, ...] = ()
        self.filled: Replaced | None = None
        self.expanded: Expansion | None = None
        self.setting_expansions: Mapping[Keys, Expansion | None] = {}
        self.marked = False
        self.modules = b""
        self.imports: Imports = NO_IMPORTS
        self.sql_offset = 0
        self.settings_place: SettingsPlace | None = None
        self.row: Row | None = None
        self._inherited = inherited
        self._data: dict[str, Any] | None = None
        self.lowered: MappedText | None = None
        self._text: str | None = None
        self._settings: ModelSettings | None = None

    @classmethod
    def loaded(
        cls,
        path: str,
        text: str,
        sql_offset: int,
        settings: ModelSettings,
        place: SettingsPlace | None,
        inherited: Inherited,
        hashes: tuple[bytes, bytes],
    ) -> "ModelFile":
        """A model whose files were just read."""
        inherited = in_group(settings.group, inherited)
        model = cls(settings.name or stem_of(path), path, inherited, settings.target, hashes)
        model.depends_on = settings.depends_on
        model.marked = is_marked(text)
        model.sql_offset = sql_offset
        model.settings_place = place
        model._text = text
        model._settings = settings
        return model

    @classmethod
    def remembered(
        cls, path: str, row: Row, sidecar: str | None, inherited: Inherited
    ) -> "ModelFile":
        """A model whose files are those of an earlier load, which found nothing wrong."""
        _, _, hashes, marked, sql_offset, settings_start, data = row
        if data is None:
            model = cls(stem_of(path), path, inherited, _NO_TARGET, hashes)
            model._settings = inherited.settings
        else:
            inherited = in_group(data.get("group"), inherited)
            target = TargetSetting(**data["target"]) if "target" in data else _NO_TARGET
            model = cls(data.get("name") or stem_of(path), path, inherited, target, hashes)
            model.depends_on = tuple(data.get("depends_on", ()))
            model.settings_place = SettingsPlace(sidecar or path, settings_start)
            model._data = data
        model.marked = marked
        model.sql_offset = sql_offset
        model.row = row
        return model

    def __repr__(self) -> str:
        return f"<model {self.name} at {self.path}>"

    def at(self, target: Target) -> "ModelFile":
        """The model with another target, which is a setting like others."""
        moved = copy(self)
        moved.target = target
        said = target.full_name.encode("utf-8", "surrogatepass")
        moved.settings_hash = blake3(self.settings_hash + said).digest()
        return moved

    @property
    def key(self) -> str:
        """The name as Spark compares it."""
        return self.name.lower()

    @property
    def root(self) -> Path:
        """The folder of the project."""
        return Path(self._inherited.root)

    @property
    def is_python(self) -> bool:
        """Whether the model is a Python function, of which `sql` is only the text."""
        return self.path.endswith(".py")

    @property
    def is_rocky(self) -> bool:
        """Whether the model is written in the `.rocky` language, of which `sql` is made."""
        return self.path.endswith(".rocky")

    @property
    def is_read(self) -> bool:
        """Whether the text is at hand: that of a remembered model is read when it is needed."""
        return self._text is not None

    @property
    def text(self) -> str:
        """The whole file. Raises RockyError when it changed since it was loaded."""
        if self._text is None:
            self._text = read_unchanged(self._inherited.root, self.path, self.text_hash)
        return self._text

    @property
    def sql(self) -> str:
        """The query in Spark SQL, macros expanded; empty where the text is no query."""
        if self.expanded is not None:
            return self.expanded.text
        return self._lower().text if self.is_rocky else self.body

    @property
    def body(self) -> str:
        """The file without its front matter, values in place of its variables."""
        if self.filled is not None:
            return self.filled.text
        return self.text[self.sql_offset :] if self.sql_offset else self.text

    @property
    def settings(self) -> ModelSettings:
        """Everything said about the model, folder defaults included."""
        if self._settings is None:
            self._settings = resolve_settings(self._data or {}, self._inherited, [])
        return self._settings

    @property
    def has_unit_tests(self) -> bool:
        """Whether the model has unit tests, told without working out its other settings."""
        if self._settings is not None:
            return bool(self._settings.test)
        return bool((self._data or {}).get("test"))

    @property
    def shared(self) -> SharedSettings:
        """The named tests that its own may begin from, and the file that has them."""
        return self._inherited.shared

    @property
    def settings_path(self) -> str | None:
        return self.settings_place.path if self.settings_place else None

    @property
    def strategy(self) -> Strategy:
        strategy = self.settings.strategy
        assert strategy is not None
        return strategy

    @property
    def tags(self) -> Mapping[str, str]:
        return self.settings.tags

    @property
    def description(self) -> str | None:
        """What is said of the model; where nothing is, what it is for."""
        return self.settings.description or self.settings.intent

    @property
    def owner(self) -> str | None:
        """Its own owner, else that of its folder, else that of its pipeline."""
        return self.settings.owner

    @property
    def tests(self) -> tuple[AssertionRecord, ...]:
        return self.settings.tests

    @property
    def classification(self) -> Mapping[str, tuple[str, ...]]:
        return self.settings.classification

    @property
    def outer_classification(self) -> Mapping[str, tuple[str, ...]]:
        """What its folder and its group say of columns, whether it has them or not."""
        return self._inherited.settings.classification

    @property
    def lints(self) -> Mapping[Code, Level]:
        return self.settings.lints

    @property
    def bans(self) -> Mapping[int, int]:
        """Names in `sql` that must not mean what Spark would take them for, by their offsets."""
        return self.expanded.bans if self.expanded is not None else {}

    def labels_in_macros(self, span: Span | None) -> tuple[Label, ...]:
        """Where a span of `sql` was written, if that is in macros; `place_in_file` is the call."""
        if self.expanded is None or span is None:
            return ()
        return self.expanded.labels(span)

    def place_in_file(self, span: Span) -> Span:
        """A span of `sql` as a span of the file; within a call of a macro, that call."""
        if self.expanded is not None:
            span = self.expanded.written(span)
        if self.is_rocky:
            span = self._lower().written(span)
        if self.filled is not None:
            span = self.filled.written(span)
        return Span(span.start + self.sql_offset, span.end + self.sql_offset)

    def _lower(self) -> MappedText:
        if self.lowered is None:
            # A project without such models shall not wait for the language.
            from rocky.language.dsl.lowering import lower_text  # noqa: PLC0415

            found = lower_text(self.body)
            self.lowered = found if isinstance(found, MappedText) else NO_TEXT
        return self.lowered


def setting_place(
    model: ModelFile, texts: Mapping[str, SourceText], keys: Keys, *, on_key: bool = False
) -> tuple[str, Span | None]:
    """The file and span of a setting such as `("strategy", "time_column")`.

    A setting the model does not have itself (it may be inherited) gives the nearest table
    around it, or the model's own path with no span.
    """
    if model.settings_place is None:
        return model.path, None
    path, start = model.settings_place
    text = texts[path].text
    end = len(text)
    if path == model.path:
        matter = find_front_matter(text)
        end = matter.end if matter and matter.end is not None else end
    places = locate_keys(text[start:end])
    while keys:
        place = places.get(keys)
        if place:
            span = place.key if on_key else place.value
            return path, Span(span.start + start, span.end + start)
        keys, on_key = keys[:-1], False
    return path, None
