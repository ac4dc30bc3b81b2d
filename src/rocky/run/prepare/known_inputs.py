"""A known input: what a step reads, known before it is bound, and what a step is made from."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

from rocky.canonical import text_hash
from rocky.compiler.fingerprints import Fingerprints
from rocky.ledger.run_records import InputRecord
from rocky.plan.steps import Read
from rocky.project.sources import SourceTable
from rocky.project.toml.variables import written
from rocky.run.engine.input_pieces import SizedFile, source_files, table_files
from rocky.run.engine.protocol import SourcePin
from rocky.run.engine.sources import Sources, declaration_hash
from rocky.run.prepare.pins import Identity, PinnedTable, ProofClass, identify_source

_UNSAFE: Final = re.compile(r"[^a-z0-9_]")


@dataclass(frozen=True, slots=True)
class KnownInput:
    """One input of a step.

    `identity` is None when it could change unseen, `bytes` when nobody knows its size. `rows`
    identifies it by its rows, where they have a hash. `found` is a source as it was pinned.
    `pieces` is how many it is read in, if it is (`rocky.run.engine.input_pieces`); `looked_up` is
    one that is sent to whoever reads pieces of another.
    """

    read: Read
    name: str
    identity: Identity | None
    rows: Identity | None
    record: InputRecord
    bytes: int | None
    pinned: PinnedTable | None = None
    found: tuple[SourceTable, SourcePin] | None = None
    pieces: int = 0
    looked_up: bool = False

    @property
    def files(self) -> tuple[SizedFile, ...]:
        """Its files; none where it is no list of files, or nobody knows them."""
        if self.pinned is not None:
            return table_files(self.pinned.snapshot)
        return () if self.found is None else source_files(*self.found)

    @property
    def view(self) -> str:
        """What SQL calls it."""
        slug = _UNSAFE.sub("_", self.name.lower())
        name = f"rocky_{slug}_{text_hash(f'{self.read.kind} {self.read.key}')[:8]}"
        if self.looked_up:
            return f"{name}_looked_up"
        return f"{name}_in_{self.pieces}" if self.pieces else name


@dataclass(frozen=True, slots=True)
class MadeFrom:
    """What a step is made from, known before it is built.

    `cutoff_hash` is `input_hash` with the rows of the inputs in place of their files; `named` tells
    which input a table name in the step's SQL is.
    """

    fingerprints: Fingerprints
    inputs: tuple[KnownInput, ...]
    input_hash: str | None
    proof: ProofClass | None
    cutoff_hash: str | None = None
    named: Callable[[tuple[str, ...]], KnownInput | None] = field(
        default=lambda _: None, compare=False, repr=False
    )

    @property
    def upstreams(self) -> tuple[Mapping[str, str], ...]:
        """The identities that were hashed, as they are recorded."""
        return _documents(each.identity for each in self.inputs)

    @property
    def cutoff_upstreams(self) -> tuple[Mapping[str, str], ...]:
        """The same by rows."""
        return _documents(each.rows for each in self.inputs) if self.cutoff_hash else ()


def _documents(identities: Iterable[Identity | None]) -> tuple[Mapping[str, str], ...]:
    known = [each for each in identities if each is not None]
    ordered = sorted(known, key=lambda each: (each.key, each.kind))
    return tuple(each.document() for each in ordered)


def unknown_source(read: Read, source: SourceTable) -> KnownInput:
    """A source that only Spark can look at, and has not yet."""
    record = InputRecord(source.name, uri=_uri_of(source))
    return KnownInput(read, source.name, None, None, record, None)


def known_source(read: Read, source: SourceTable, pin: SourcePin, sources: Sources) -> KnownInput:
    """A source as it was pinned."""
    files = sources.files_of(source, pin)
    identity = identify_source(source.name, pin, files, declaration_hash(source))
    value = identity.value if identity is not None else None
    record = InputRecord(source.name, uri=_uri_of(source), version=pin.version, identity=value)
    found = (source, pin)
    return KnownInput(read, source.name, identity, identity, record, pin.bytes, found=found)


def _uri_of(source: SourceTable) -> str | None:
    # What a variable held may be a secret.
    return None if source.path is None else written(source.path)
