"""Names in a backend. The version of the ledger's schema is part of a copy's name.

So an older Rocky never reads or writes what a newer one keeps: each has a copy of its own, and the
newer one begins from the older one's.
"""

import hashlib
from typing import Final

from rocky.ledger.schema import SCHEMA_VERSION

CLAIMS: Final = "claims"
"""Where the claims of living runs lie."""


def copy_name(version: int = SCHEMA_VERSION) -> str:
    """Where the copy of a ledger with a schema of some version lies."""
    return f"v{version}/state.db"


def claim_name(token: str) -> str:
    return f"{CLAIMS}/{token}.json"


def key_name(key: str) -> str:
    """Where an idempotency key lies. A key may hold anything, so its hash is the name."""
    return f"idempotency/{hashlib.sha256(key.encode()).hexdigest()}.json"
