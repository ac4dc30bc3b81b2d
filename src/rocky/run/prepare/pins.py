"""Pins: which version of each table a run reads, and the hash that says what each input was.

Nobody ever reads "latest": a table that moves during a run is not seen to move. An input that was
identified by its content makes the proof `strong`, or `stat` where the hash of its content was
remembered for files that look unchanged. A list of files makes it `heuristic`, and an input nobody
can tell from its earlier self makes no hash at all: a hash that is absent equals nothing. A file of
ours that is not what its name says is refused before it is read.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Final, Literal, get_args

from rocky.canonical import canonical_json, text_hash
from rocky.errors import InputNotBuilt, InternalError, StoreUnreadable
from rocky.language.datatypes.text import field_to_json
from rocky.language.datatypes.types import StructField
from rocky.language.ir import SkipHash
from rocky.ledger.provenance import SourceFile, content_hash, input_hash_of, source_hash
from rocky.plan.steps import RunPlan, step_id
from rocky.project.configuration.blocks import Adapter
from rocky.project.models import Target
from rocky.project.pipeline_tables import PipelineTable
from rocky.project.sources import SourceTable
from rocky.run.checksums import HASHED_UP_TO_BYTES, Checksums
from rocky.run.engine.protocol import SourcePin
from rocky.store.data_file import DataFile, is_addressed
from rocky.store.delta.snapshot import ROWS_HASH, Snapshot
from rocky.store.location import locate
from rocky.store.warehouse import Table, Warehouse, open_warehouse

_READERS: Final = 16
"""Logs read at once: on an object store each takes a few round trips."""
_READERS_OF_FOLDERS: Final = 2
"""The same of a folder, which may be another machine's: threads cost more than a disk's answers."""


@dataclass(frozen=True, slots=True)
class PinnedTable:
    """A table at a version."""

    table: Table
    snapshot: Snapshot


class Pins:
    """The tables of a run at their versions, by step id. Threads may share it."""

    def __init__(self, pinned: Mapping[str, PinnedTable]) -> None:
        self._pinned = dict(pinned)
        self._lock = Lock()

    def pin(self, step: str, pinned: PinnedTable) -> None:
        with self._lock:
            self._pinned[step] = pinned

    def has(self, step: str) -> bool:
        """Whether a table is pinned; sources mostly are none of ours."""
        with self._lock:
            return step in self._pinned

    def of(self, step: str) -> PinnedTable:
        with self._lock:
            if step not in self._pinned:
                raise InternalError(f"`{step}` is read before it is pinned")
            return self._pinned[step]


def load_snapshots(tables: Iterable[Table]) -> list[Snapshot | None]:
    """The newest snapshots of some tables; None for one that does not exist."""
    return _in_threads(list(tables), Table.snapshot)


def warm_up(tables: Iterable[Table]) -> list[Snapshot | None]:
    """Read the logs of some tables at once, so that each is known when it is asked for.

    The newest snapshots; None for a table that does not exist, or that cannot be read.
    """

    def look(table: Table) -> Snapshot | None:
        try:
            return table.snapshot()
        except StoreUnreadable:
            # Whoever asks for the table is told, and only what needs it fails.
            return None

    return _in_threads(list(tables), look)


def _in_threads(
    tables: Sequence[Table], load: Callable[[Table], Snapshot | None]
) -> list[Snapshot | None]:
    found: list[Snapshot | None] = [None] * len(tables)
    is_remote = any(each.objects.location.folder is None for each in tables)
    threads = max(1, min(_READERS if is_remote else _READERS_OF_FOLDERS, len(tables)))

    def load_some(first: int) -> None:
        # Tables are not handed over one by one, which costs as much as a look at one.
        for place in range(first, len(tables), threads):
            found[place] = load(tables[place])

    if threads == 1:
        load_some(0)
        return found
    with ThreadPoolExecutor(threads, thread_name_prefix="rocky-pin") as pool:
        list(pool.map(load_some, range(threads)))
    return found


def pin_inputs(plan: RunPlan, warehouse: Warehouse) -> dict[str, PinnedTable]:
    """The tables that are read and not built, as they are now. Raises InputNotBuilt."""
    tables = {key: warehouse.table(plan.project.models[key].target) for key in plan.pinned}
    copies = {
        step_id("source", key): warehouse.table(target_of_table(plan.project.sources[key]))
        for key in pipeline_inputs(plan, warehouse)
    }
    tables |= copies
    pinned: dict[str, PinnedTable] = {}
    for (key, table), snapshot in zip(tables.items(), load_snapshots(tables.values()), strict=True):
        if snapshot is None and key in copies:
            # Who reads it is told; a run of its pipeline may still come before that.
            continue
        if snapshot is None:
            raise InputNotBuilt(_not_built(plan, key))
        pinned[key] = PinnedTable(table, snapshot)
    return pinned


def pipeline_inputs(plan: RunPlan, warehouse: Warehouse) -> tuple[str, ...]:
    """The keys of what steps read that pipelines of the project write into the same warehouse."""
    project = plan.project
    read = {each.key for step in plan.steps for each in step.reads if each.kind == "source"}
    return tuple(
        key
        for key in sorted(read)
        if isinstance(source := project.sources.get(key), PipelineTable)
        and _lies_in(source, warehouse, project.root)
    )


def target_of_table(source: SourceTable) -> Target:
    """The target that a pipeline's table is."""
    assert isinstance(source, PipelineTable)
    return Target(*source.parts)


def _lies_in(source: PipelineTable, warehouse: Warehouse, root: Path) -> bool:
    """Whether a table is one of this warehouse: adapters may have one each."""
    place = str(source.path).removesuffix("/".join(("", *source.parts)))
    return locate(place, root, {}).uri == warehouse.uri


def _not_built(plan: RunPlan, key: str) -> str:
    name = plan.project.models[key].name
    readers = [
        step.name
        for step in plan.steps
        if any(read.kind == "model" and read.key == key for read in step.reads)
    ]
    return (
        f"`{readers[0]}` reads `{name}`, which has not been built yet; "
        f"`rocky run +{readers[0]}` builds all that it reads, and it"
    )


def open_project_warehouse(
    adapter: Adapter, root: Path, environment: Mapping[str, str]
) -> Warehouse:
    """Where an adapter's tables are."""
    return open_warehouse(adapter.warehouse, base=root, options={**environment, **adapter.conf})


ProofClass = Literal["strong", "stat", "heuristic"]
"""How an input is known: by bytes that were read, by a hash remembered while size, times and inode
of the file stayed the same, or by a list of files. From the surest on."""

_PROOFS: Final[tuple[ProofClass, ...]] = get_args(ProofClass)


def weakest(proofs: Iterable[ProofClass]) -> ProofClass:
    """The least sure of some; of none `strong`."""
    return max(proofs, key=_PROOFS.index, default="strong")


@dataclass(frozen=True, slots=True)
class Identity:
    """What one input was: `value` under a kind that says what it is a value of.

    `content` is a hash of bytes; `rows` the hash of a table's rows; `inline` the input hash of a
    query that stands for a table; `listing` a hash of files' names, sizes and times; `version`
    whatever a format calls one. `beside` is what else must be equal: of a source its declaration,
    of a table its columns.
    """

    kind: Literal["content", "rows", "inline", "listing", "version"]
    key: str
    value: str
    proof: ProofClass
    beside: tuple[str, str] | None = None

    def document(self) -> dict[str, str]:
        """The identity as it is hashed and recorded."""
        names = {"rows": "rows_hash", "inline": "input_hash", "version": "version"}
        found = {
            "kind": self.kind,
            "upstream_key": self.key,
            names.get(self.kind, "blake3_hash"): self.value,
        }
        return found if self.beside is None else found | dict([self.beside])


def identify_table(key: str, snapshot: Snapshot) -> Identity:
    """A table by its files and columns; files of other tools are not named by their bytes."""
    addresses = [file.address for file in snapshot.files]
    if not all(is_addressed(file.path) for file in snapshot.files):
        files = [[file.path, file.size, file.modified_ms] for file in snapshot.files]
        listing = canonical_json({"files": files})
        return Identity("listing", key, text_hash(listing), proof="heuristic")
    # A column may be added without a file: the same files then mean something else.
    return Identity(
        "content", key, content_hash(addresses), proof="strong", beside=_columns_of(snapshot)
    )


def identify_rows(key: str, snapshot: Snapshot) -> Identity | None:
    """A table by its rows and columns; None when no hash of its rows tells them apart."""
    rows_hash = snapshot.configuration.get(ROWS_HASH)
    if not rows_hash or not has_distinctive_hash(snapshot.schema):
        return None
    # Two columns that swapped their names hold the same rows and mean something else.
    return Identity("rows", key, rows_hash, proof="strong", beside=_columns_of(snapshot))


def _columns_of(snapshot: Snapshot) -> tuple[str, str]:
    columns = canonical_json([field_to_json(each) for each in snapshot.schema])
    return "columns", text_hash(columns)


def has_distinctive_hash(columns: Iterable[StructField]) -> bool:
    """Whether rows of these columns with the same hash are the same to every query.

    The order of a map's entries and the bytes of a variant are not hashed, and a query can see
    them.
    """
    return not any(word in each.type.text for each in columns for word in ("map<", "variant"))


def identify_source(
    key: str, pin: SourcePin, files: Sequence[SourceFile], declaration_hash: str
) -> Identity | None:
    """A source's identity as far as it shows one; None when it could change unseen."""
    beside = ("declaration_hash", declaration_hash)
    if pin.version is not None:
        # It has a hash of the files' names, which are never used twice.
        return Identity("version", key, pin.version, proof="strong", beside=beside)
    hashed = [(each.path, each.blake3_hash) for each in files if each.blake3_hash is not None]
    if files and len(hashed) == len(files):
        proof: ProofClass = "strong" if pin.read else "stat"
        return Identity("content", key, source_hash(hashed), proof, beside=beside)
    if pin.files:
        listing = canonical_json({"files": sorted(map(list, pin.files))})
        return Identity("listing", key, text_hash(listing), proof="heuristic", beside=beside)
    return None


def identify_inline(key: str, input_hash: str | None, proof: ProofClass | None) -> Identity | None:
    """The identity of a query that stands for a table: all it is made of."""
    if input_hash is None or proof is None:
        return None
    return Identity("inline", key, input_hash, proof)


def input_hash(
    skip_hash: SkipHash, target: str, upstreams: Sequence[Identity | None]
) -> tuple[str | None, ProofClass | None]:
    """The hash of everything a model is made from, and how sure it is."""
    known = [each for each in upstreams if each is not None]
    if len(known) < len(upstreams):
        return None, None
    proof = weakest(each.proof for each in known)
    return input_hash_of(skip_hash, target, [each.document() for each in known]), proof


def refuse_damaged_files(pinned: PinnedTable, checksums: Checksums | None) -> None:
    """Raise StoreUnreadable for a file of ours on a disk that is not what its name says.

    Of a table that is too large to be hashed only the sizes are compared with the log. How large it
    is the disk says: a log can be made to say anything.
    """
    if checksums is None:
        return
    table, size = pinned.table, 0
    hashed: list[tuple[Path, DataFile]] = []
    for file in pinned.snapshot.files:
        local = table.place_of(file).local
        if local is None or not is_addressed(file.path) or not local.exists():
            # What lies elsewhere is its store's to keep; what is missing Spark itself names.
            continue
        found = local.stat().st_size
        if found != file.size:
            raise StoreUnreadable(
                _damaged(table, local, f"it has {found} bytes, and the log says {file.size}")
            )
        size += found
        hashed.append((local, file))
    # Of a larger table `rocky verify` reads everything.
    for local, file in hashed if size <= HASHED_UP_TO_BYTES else ():
        if checksums.of([str(local)]) != (file.address,):
            raise StoreUnreadable(_damaged(table, local, "its bytes do not match its name"))


def _damaged(table: Table, file: Path, what: str) -> str:
    return (
        f"file `{file}` of `{table.name}` is damaged: {what}"
        "; put it back, or build its table again with `--force-rebuild`"
    )
