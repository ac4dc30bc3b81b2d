"""Compilation: everything known about a project after compiling it, and the records it is kept in.

A record is small where every compile looks (what was looked up, the face) and packed where few do
(schema, lineage, findings): ten thousand records load in milliseconds and only those somebody asks
for are unpacked into a `ModelIr`. Nothing here knows the binder, so that a compile with nothing to
bind never loads it; `rocky.compiler.model_records` makes records.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Final, NamedTuple, TypeVar

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.analysis.column_masks import NO_MASK_PLAN, MaskPlan
from rocky.diagnostics import Code, Diagnostic, Label, Severity
from rocky.diagnostics.diagnostic import SourceText, Span
from rocky.language.datatypes.text import decode_type
from rocky.language.datatypes.types import StructField
from rocky.language.ir import (
    INFLUENCE_ROLES,
    LINEAGE_KINDS,
    Edge,
    Influence,
    ModelIr,
    OutputColumn,
    Use,
)
from rocky.project import ModelFile, Project
from rocky.project.models import setting_place
from rocky.project.setting_sql import place_setting

Made = TypeVar("Made")


class Record(NamedTuple):
    """One bound model.

    `key` says what text and settings were bound; `lookups` pairs every name the query looked up
    with the face it found, so that a record is good as long as both still hold. `face` is the hash
    of all that readers see of this model. `columns` and `unknown` are counts, `star` is the place
    of a star through which the output follows an input, `names_columns` tells whether the settings
    name output columns. `findings`, `schema`, `body` and `usage` are packed. `plan` is what a
    Python model was bound from (`rocky.analysis.python_plans`), empty for SQL.
    """

    key: bytes
    lookups: tuple[tuple[tuple[str, ...], bytes], ...]
    reads: tuple[str, ...]
    face: bytes
    columns: int
    unknown: int
    star: tuple[int, int] | None
    names_columns: bool
    determinism: tuple[str, ...]
    findings: bytes
    schema: bytes
    body: bytes
    usage: bytes = b""
    plan: bytes = b""


NO_RECORDS: Final[Mapping[str, Record]] = MappingProxyType({})
NOTHING_UNPACKED: Final[Mapping[str, ModelIr]] = MappingProxyType({})


class Schema(NamedTuple):
    """The columns, each with the text of its type and whether it may be null."""

    columns: list[tuple[str, str, bool]]
    known: bool


class Share(NamedTuple):
    """A column that has a part only of what an origin is, or with less of its tags.

    `ways` are the paths of fields inside the origin, "" for all of it, each with what is left of a
    tag (`rocky.language.functions.tag_rules`).
    """

    column: int
    origin: int
    ways: list[tuple[str, int]]


class EndedIn(NamedTuple):
    """Groups of rows over which aggregates end tags.

    `keys` are what they are grouped by, each by its sources (`index << 3 | kind`, as those of a
    column) that keep their tags; `floor` is how many rows each surely has, 0 where the query does
    not say; `ended` are the origins, with the place of the call that ends the tags of each.
    """

    keys: list[list[int]]
    floor: int
    ended: list[tuple[int, int, int]]


class Body(NamedTuple):
    """What only few ask for.

    `details` has for each column whether it was named, where (-1 when nowhere) and its sources,
    which index `origins` (table, column) as `index << 3 | kind`; so do `influences`, with a role.
    `functions` are the declared ones that are called, with their digests; `shares` are of columns
    and origins, and none for what has all of an origin with its tags; `groups` are those in which
    tags end.
    """

    details: list[tuple[bool, int, int, tuple[int, ...]]]
    origins: list[tuple[str, str]]
    influences: list[tuple[int, int]]
    unknowns: list[tuple[str, int]]
    normal: bytes
    functions: list[tuple[str, bytes]] = []  # noqa: RUF012 - never changed, and told to msgspec
    shares: list[Share] = []  # noqa: RUF012 - as above
    groups: list[EndedIn] = []  # noqa: RUF012 - as above


_SCHEMA: Final = Decoder(Schema)
_BODY: Final = Decoder(Body)
_FINDINGS: Final = Decoder(list[tuple[Any, ...]])
_OF_QUERY: Final = 8
"""How much is packed of a finding in a query; of one in a setting its keys and its SQL follow."""
_USAGE: Final = Decoder(list[Use])


def unpack_schema(record: Record) -> Schema:
    return _SCHEMA.decode(record.schema)


def unpack_body(record: Record) -> Body:
    return _BODY.decode(record.body)


def unpack_usage(record: Record) -> list[Use]:
    """The functions and forms that a model's query uses, in the order of its text."""
    return _USAGE.decode(record.usage) if record.usage else []


def fields_of(record: Record) -> tuple[tuple[StructField, ...], bool]:
    """The schema a reader of the model sees, and whether it is complete."""
    columns, known = unpack_schema(record)
    return tuple(StructField(name, decode_type(kind), null) for name, kind, null in columns), known


def unpack_model(name: str, record: Record) -> ModelIr:
    """The IR of a model from its record."""
    columns, known = unpack_schema(record)
    details, origins, influences, unknowns, normal, functions, *_ = unpack_body(record)
    return ModelIr(
        name,
        tuple(
            _unpack_column(column, detail, origins)
            for column, detail in zip(columns, details, strict=True)
        ),
        known,
        record.reads,
        tuple(
            Influence(origins[at][0], origins[at][1], INFLUENCE_ROLES[role])
            for at, role in influences
        ),
        record.determinism,
        tuple(unknowns),
        (Span(*record.star),) if record.star is not None else (),
        blake3(record.schema).hexdigest(16),
        normal.hex(),
        tuple(name for name, _ in functions),
    )


def _unpack_column(
    column: tuple[str, str, bool],
    detail: tuple[bool, int, int, tuple[int, ...]],
    origins: list[tuple[str, str]],
) -> OutputColumn:
    name, kind, nullable = column
    named, start, end, sources = detail
    edges = tuple(
        Edge(origins[source >> 3][0], origins[source >> 3][1], LINEAGE_KINDS[source & 7])
        for source in sources
    )
    span = Span(start, end) if start >= 0 else None
    return OutputColumn(name, decode_type(kind), nullable, edges, named, span)


def unpack_findings(
    record: Record, model: ModelFile, texts: Mapping[str, SourceText]
) -> list[Diagnostic]:
    """The findings of a record as diagnostics in the model's files."""
    if not record.findings:
        return []
    return [
        _unpack_diagnostic(packed, _where(packed, model, texts), model)
        for packed in _FINDINGS.decode(record.findings)
    ]


class _Where(NamedTuple):
    """The file of a finding, and how spans of what was bound become spans of it."""

    path: str
    place: Callable[[Span], Span | None]
    inside: Callable[[Span], tuple[Label, ...]]


def _where(packed: tuple[Any, ...], model: ModelFile, texts: Mapping[str, SourceText]) -> _Where:
    if len(packed) == _OF_QUERY:
        return _Where(model.path, model.place_in_file, model.labels_in_macros)
    *_, keys, sql = packed
    if keys[0] == "output":
        path, span = setting_place(model, texts, tuple(keys), on_key=len(keys) == 1)
        return _Where(path, lambda _: span, lambda _: ())
    setting = place_setting(model, texts, tuple(keys), sql)
    return _Where(setting.path, setting.span, setting.labels)


def unpack_diagnostic(packed: tuple[Any, ...]) -> Diagnostic:
    """A finding that stands in a file of its own, and in no model."""
    return _unpack_diagnostic(packed, _Where("", lambda span: span, lambda _: ()), None)


def _unpack_diagnostic(
    packed: tuple[Any, ...], where: _Where, model: ModelFile | None
) -> Diagnostic:
    code, message, own_path, span, severity, condition, labels, help_text = packed[:_OF_QUERY]
    inside = () if own_path or span is None else where.inside(Span(*span))
    return Diagnostic(
        Code(code),
        message,
        _placed(span, None if own_path else where),
        own_path or where.path,
        Severity(severity),
        condition,
        (
            *inside,
            *(_unpack_label(label, where.path if own_path else None, where) for label in labels),
        ),
        help_text,
        model=model.name if model is not None else None,
    )


def _unpack_label(packed: tuple[Any, ...], elsewhere: str | None, where: _Where) -> Label:
    """A label; `elsewhere` is the model's path when the diagnostic itself is in another file."""
    span, message, path, column = packed
    return Label(_placed(span, None if path else where), message, path or elsewhere, column)


def _placed(span: tuple[int, int] | None, where: _Where | None) -> Span | None:
    if span is None:
        return None
    return where.place(Span(*span)) if where is not None else Span(*span)


class CompiledModels(Mapping[str, ModelIr]):
    """Models by key. A model that could not be bound is not among them.

    `stamp` is that of the cache files; None when the compile was to leave them alone. `unpacked`
    are models of the same records that somebody has asked for before.
    """

    __slots__ = ("_project", "_records", "_unpacked", "stamp")

    def __init__(
        self,
        project: Project,
        records: Mapping[str, Record],
        stamp: bytes | None = None,
        unpacked: Mapping[str, ModelIr] = NOTHING_UNPACKED,
    ) -> None:
        self._project = project
        self._records = records
        self._unpacked: dict[str, ModelIr] = dict(unpacked)
        self.stamp = stamp

    def __getitem__(self, key: str) -> ModelIr:
        found = self._unpacked.get(key)
        if found is None:
            found = unpack_model(self._project.models[key].name, self._records[key])
            self._unpacked[key] = found
        return found

    def __contains__(self, key: object) -> bool:
        return key in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)

    def unpacked(self) -> dict[str, ModelIr]:
        """The models that somebody has asked for."""
        return self._unpacked

    def records(self) -> Mapping[str, Record]:
        """What is kept of all models."""
        return self._records

    def record(self, key: str) -> Record:
        """What is kept of a model, for those who need a little of very many."""
        return self._records[key]


@dataclass(frozen=True, slots=True)
class Statistics:
    """How the compile went; `bound` models were worked on, the others came from the cache."""

    models: int
    bound: int
    columns: int
    unknown_columns: int
    unknown_reasons: tuple[tuple[str, int], ...] = ()


REPORTED_ERROR: Final = "an error reported above"
"""Why columns are unknown where nothing else is known: the finding says it."""
UNRUN_CODE: Final = "Python models whose code was not run"


def complete_reasons(
    unknown: int, reasons: Mapping[str, int], *, has_untyped: bool, lacks_plans: bool
) -> tuple[tuple[str, int], ...]:
    """Why columns are unknown, most first, so that the counts add up to all of them.

    Nothing is said of a column whose table has none that are known, or that is made of another
    unknown one.
    """
    rest = unknown - sum(reasons.values())
    every = dict(reasons)
    if rest > 0:
        if has_untyped:
            every["tables of unknown columns"] = rest
        else:
            other = UNRUN_CODE if lacks_plans else REPORTED_ERROR
            every["what is made of these" if reasons else other] = rest
    return tuple(sorted(every.items(), key=lambda item: (-item[1], item[0])))


@dataclass(frozen=True, slots=True)
class Compilation:
    """A compiled project.

    `order` lists models so that each comes after what it reads; models in a cycle come last.
    `upstream` and `downstream` hold model, source and seed names as the project declares them.
    `diagnostics` are final: suppressed ones are gone, levels are set. `masks` are those of the
    environment that the project is in. `loaded` is the project without what the compile added to
    it, such as tables that nobody declares, and twins.
    """

    project: Project
    models: CompiledModels
    order: tuple[str, ...]
    upstream: Mapping[str, tuple[str, ...]]
    downstream: Mapping[str, tuple[str, ...]]
    diagnostics: tuple[Diagnostic, ...]
    statistics: Statistics
    loaded: Project
    masks: MaskPlan = NO_MASK_PLAN
    _kept: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)
    """What somebody has worked out of it, for as long as it is there."""

    def kept(self, name: str, make: Callable[[], Made]) -> Made:
        """Something that is worked out of it alone, once."""
        if name not in self._kept:
            self._kept[name] = make()
        found: Made = self._kept[name]
        return found

    def __repr__(self) -> str:
        errors = sum(each.severity is Severity.ERROR for each in self.diagnostics)
        return (
            f"<Compilation of {self.project!r}: {len(self.diagnostics)} findings, {errors} errors>"
        )

    @property
    def has_errors(self) -> bool:
        return any(each.severity is Severity.ERROR for each in self.diagnostics)

    def diagnostics_of(self, model: str) -> tuple[Diagnostic, ...]:
        """The findings that belong to one model."""
        return tuple(each for each in self.diagnostics if each.model == model)
