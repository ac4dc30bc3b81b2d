"""Settling: verifying a ledger that a run may be writing to.

A run that writes meanwhile makes tables newer than the records that were read a moment before,
which looks like a ledger that was rolled back. So what is found while the ledger moves is looked
at again.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Final

from rocky.evidence.places import OpenWarehouse
from rocky.evidence.verify import Scope, Verification, verify_evidence
from rocky.ledger.chain import CHAIN_TABLE
from rocky.ledger.evidence_reader import EvidenceReader, open_evidence

_TRIES: Final = 3


def verify_ledger(
    path: Path, open_warehouse: OpenWarehouse, choose: Callable[[EvidenceReader], Scope]
) -> tuple[Scope, Verification] | None:
    """What `choose` asks for and what came of it; None when there is no ledger yet.

    Raises as `verify_evidence` does.
    """
    scope, found, last = None, None, None
    for _ in range(_TRIES):
        reader = open_evidence(path)
        if reader is None:
            return None
        with reader:
            newest = deque(reader.rows(CHAIN_TABLE), maxlen=1)
            if scope is not None and found is not None and newest == last:
                break
            scope, last = choose(reader), newest
            found = verify_evidence(reader, open_warehouse, scope)
        if not found.findings:
            break
    return None if scope is None or found is None else (scope, found)
