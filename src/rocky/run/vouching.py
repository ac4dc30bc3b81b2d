"""Vouching: what a commit says of the ledger at the moment it is made.

A ledger that is kept elsewhere is vouched for as it is known there: if this process dies, that is
all that anybody will find. Where nobody knows what lies there, nothing is vouched for.
"""

from rocky.ledger.chain import Head
from rocky.run.beginning import is_unvouched
from rocky.run.surroundings import Surroundings


def vouch_for(surroundings: Surroundings) -> dict[str, str]:
    """What commits carry of the ledger."""
    if is_unvouched(surroundings):
        return {}
    ledger = surroundings.ledger
    return {"ledgerHead": known_head(surroundings).entry_hash, "ledgerId": ledger.ledger_id}


def known_head(surroundings: Surroundings) -> Head:
    """The ledger's head as others can find it."""
    remote = surroundings.remote
    published = remote.published_head if remote is not None else None
    return published or surroundings.ledger.head()
