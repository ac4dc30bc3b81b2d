"""Probes for `rocky doctor`: can the remote state be read, and can it be written as it must be.

A probe writes a note of its own and removes it; the state itself is only read.
"""

import uuid
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from rocky.errors import RockyError
from rocky.ledger.copies import CopyFacts, common_head, describe_copy, inspect_copy
from rocky.project.configuration.blocks import State
from rocky.state.backend import Backend, GenerationChanged, copy_name
from rocky.state.events import Outcome
from rocky.state.tiers import open_backend
from rocky.state.transfer import Clock, Transfer, TransferFailed, Transfers


class Probe(NamedTuple):
    """What a probe found. `message` is one sentence; where it failed, it says what failed."""

    name: str
    passed: bool
    message: str


def probe_sync(state: State, path: Path, environment: Mapping[str, str]) -> Probe:
    """Whether the remote state can be read, and how the local file stands to it."""
    name = "state_sync"
    if state.backend == "local":
        return Probe(name, True, "the state is kept on this machine")
    try:
        shelf, transfer = _open(state, environment)
        copy_at = copy_name()
        copy = transfer.call(lambda: shelf.load(copy_at))
        if copy is None:
            return Probe(name, True, f"there is no state at `{shelf.place(copy_at)}` yet")
        with TemporaryDirectory(prefix="rocky-probe-") as folder:
            remote = Path(folder) / "remote.db"
            remote.write_bytes(copy.data)
            passed, said = _compare(path, remote)
        return Probe(name, passed, f"{said} (`{shelf.place(copy_at)}`, {len(copy.data)} bytes)")
    except TransferFailed as failure:
        return Probe(name, False, str(failure))
    except RockyError as error:
        return Probe(name, False, str(error))


def probe_rw(state: State, path: Path, environment: Mapping[str, str]) -> Probe:
    """Whether the backend can be written, swapped, read and cleaned up."""
    name = "state_rw"
    if state.backend == "local":
        here = path.parent
        return Probe(name, here.is_dir(), f"the state is kept in `{here}`")
    try:
        shelf, transfer = _open(state, environment)
        place = f"probe/{uuid.uuid4().hex}"
        _write_and_read(shelf, transfer, place)
    except TransferFailed as failure:
        return Probe(name, False, str(failure))
    except RockyError as error:
        return Probe(name, False, str(error))
    said = f"`{shelf.place('')}` can be written, swapped, read and cleaned up"
    return Probe(name, True, said)


def _open(state: State, environment: Mapping[str, str]) -> tuple[Backend, Transfer]:
    problems: list[str] = []

    def report(_: str, __: Outcome, detail: str) -> None:
        problems.append(detail)

    shelf = open_backend(state, environment, report)
    transfers = Transfers(state.retry, state.transfer_timeout_seconds, Clock())
    return shelf, transfers.begin()


def _compare(local: Path, remote: Path) -> tuple[bool, str]:
    theirs = inspect_copy(remote)
    ours = describe_copy(local)
    if ours is None:
        return True, "there is no local file yet, and the next run fetches the remote one"
    if ours.ledger_id != theirs.ledger_id:
        return False, (
            f"the local file is ledger `{ours.ledger_id}`, the remote one is `{theirs.ledger_id}`:"
            " move the local file away, or name another place in `[state]`"
        )
    return True, _relation(ours, theirs, common_head(local, remote).seq)


def _relation(ours: CopyFacts, theirs: CopyFacts, shared: int) -> str:
    ahead, behind = ours.head.seq - shared, theirs.head.seq - shared
    if not ahead and not behind:
        return "the local file and the remote one are equal"
    parts = [
        f"{ahead} entries that were not sent yet" if ahead else "",
        f"{behind} entries that it lacks" if behind else "",
    ]
    which = [f"the local file has {parts[0]}" if ahead else "", f"the remote one has {parts[1]}"]
    return " and ".join(each for each in which if each and not each.endswith("has "))


def _write_and_read(shelf: Backend, transfer: Transfer, name: str) -> None:
    """Raises TransferFailed, with what did not work."""
    first = transfer.call(lambda: shelf.swap(name, b"first", None))
    try:
        transfer.call(lambda: shelf.swap(name, b"second", first))
        copy = transfer.call(lambda: shelf.load(name))
        if copy is None or copy.data != b"second":
            raise _failed(shelf, "what was written is not what is read")
        for base in (None, first):
            _expect_refusal(shelf, transfer, name, base)
    finally:
        for each in (name, f"{name}:generation"):
            _delete(shelf, transfer, each)


def _expect_refusal(shelf: Backend, transfer: Transfer, name: str, base: str | None) -> None:
    try:
        transfer.call(lambda: shelf.swap(name, b"third", base))
    except GenerationChanged:
        return
    raise _failed(
        shelf, "it overwrote a change made in between: it does not support conditional puts"
    )


def _delete(shelf: Backend, transfer: Transfer, name: str) -> None:
    transfer.call(lambda: shelf.delete_note(name))


def _failed(shelf: Backend, why: str) -> TransferFailed:
    return TransferFailed(Outcome.ERROR, f"`{shelf.place('')}` cannot keep the state: {why}")
