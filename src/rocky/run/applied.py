"""A kept plan that a run carries out, as the run knows it. Values only."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Document = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """The plan that a run carries out. `expects` is what the plan relies on, as it stood then.

    Without it the run holds to nothing but the code: what it would do was not known before.
    `written` are full names of tables that earlier runs of the same plan have written since.
    """

    plan_id: str
    expects: Document | None = None
    written: frozenset[str] = frozenset()
