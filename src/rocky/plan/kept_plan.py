"""Kept plans: `.rocky/plans/<plan_id>.json`, named by the hash of what they say.

The id covers `kind` and `payload` and nothing else, so the same plan made twice is one file; who
made it, when, and what it may cost stand beside. Whatever is in the payload is compared when the
plan is applied; whatever is not decides nothing.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from rocky.canonical import canonical_json, text_hash
from rocky.errors import PlanUnreadable
from rocky.ledger.record import format_time, parse_time
from rocky.project.files import READABLE, write_atomically
from rocky.store.folder import refuse_escape

PlanDocument = Mapping[str, Any]
"""A JSON object."""


@dataclass(frozen=True, slots=True)
class AppliedPlan:
    """The plan that a run carries out. `expects` is what the plan relies on, as it stood then.

    Without it the run holds to nothing but the code: what it would do was not known before.
    `written` are full names of tables that earlier runs of the same plan have written since.
    """

    plan_id: str
    expects: PlanDocument | None = None
    written: frozenset[str] = frozenset()


class PlanApplication:
    """The runs of one plan, as they are carried out one after the other.

    What its own earlier runs have written is no longer as the plan found it, and is not held
    against the later ones.
    """

    def __init__(self, plan: "KeptPlan") -> None:
        self._plan_id = plan.plan_id
        self._expects: dict[str | None, PlanDocument | None] = {
            run.get("pipeline"): run.get("relies_on") for run in plan.payload["runs"]
        }
        self._written: set[str] = set()

    def for_run(self, pipeline: str | None) -> AppliedPlan:
        """What the run of a pipeline holds to; None stands for models that were selected."""
        expects = self._expects.get(pipeline)
        return AppliedPlan(self._plan_id, expects, frozenset(self._written))

    def note(self, written: Iterable[str | None]) -> None:
        """Remember the full names of tables that a run has written."""
        self._written |= {each for each in written if each is not None}


PLANS_FOLDER: Final = ".rocky/plans"
FORMAT_VERSION: Final = 1
"""The version of the file; a newer one is refused."""
RUN_KIND: Final = "run"
"""The kind of a plan that a run carries out."""

_IGNORED: Final = "cache/\n"
_SHORTEST: Final = 8
_ID: Final = re.compile(r"[0-9a-f]{64}")
_PREFIX: Final = re.compile(rf"[0-9a-f]{{{_SHORTEST},64}}")


@dataclass(frozen=True, slots=True)
class KeptPlan:
    """A plan as it is kept. `outlook` is what it may cost: said, and never compared."""

    kind: str
    payload: PlanDocument
    created_at: datetime
    created_by: str | None = None
    outlook: PlanDocument = field(default_factory=dict)

    @property
    def plan_id(self) -> str:
        return plan_id_of(self.kind, self.payload)


def plan_id_of(kind: str, payload: PlanDocument) -> str:
    """The id of a plan: BLAKE3 of the canonical JSON of both."""
    return text_hash(canonical_json({"kind": kind, "payload": payload}))


def plan_path(root: Path, plan_id: str) -> Path:
    return root / PLANS_FOLDER / f"{plan_id}.json"


def save_plan(root: Path, plan: KeptPlan) -> KeptPlan:
    """Keep a plan; the one that is kept. The same plan, made before, stays as it is.

    Raises OSError when the folder cannot be written.
    """
    path = plan_path(root, plan.plan_id)
    refuse_escape(root, f"{PLANS_FOLDER}/{path.name}")
    with suppress(PlanUnreadable, OSError):
        kept = read_plan(path)
        if kept.plan_id == plan.plan_id and kept.outlook == plan.outlook:
            return kept
    path.parent.mkdir(parents=True, exist_ok=True)
    refuse_escape(root, ".rocky/.gitignore")
    ignored = root / ".rocky/.gitignore"
    if not ignored.exists():
        ignored.write_text(_IGNORED, encoding="utf-8")
    text = json.dumps(_document(plan), indent=2, sort_keys=True, ensure_ascii=False)
    write_atomically(path, f"{text}\n", mode=READABLE)
    return plan


def load_plan(root: Path, reference: str) -> KeptPlan:
    """A plan by its id, the first digits of it, or the path of its file.

    Raises PlanUnreadable, also when its content is no longer what its id says.
    """
    path = _find(root, reference)
    plan = read_plan(path)
    named = path.stem if _ID.fullmatch(path.stem) else None
    if named is not None and named != plan.plan_id:
        raise PlanUnreadable(
            f"the file of plan `{named}` was changed after it was made: its content is that of"
            f" `{plan.plan_id}`; nothing was run, make a new one with `rocky plan`"
        )
    return plan


def read_plan(path: Path) -> KeptPlan:
    """The plan in a file. Raises PlanUnreadable; OSError when there is no such file."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except RecursionError as error:
        raise PlanUnreadable(f"`{path.name}` is not a plan: it is nested too deep") from error
    except (UnicodeDecodeError, ValueError) as error:
        raise PlanUnreadable(f"`{path.name}` is not a plan: it is not JSON") from error
    if not isinstance(document, dict) or not isinstance(document.get("version"), int):
        raise PlanUnreadable(f"`{path.name}` is not a plan: it has no `version`")
    version = document["version"]
    if version > FORMAT_VERSION:
        raise PlanUnreadable(
            f"`{path.name}` was made by a newer Rocky: its format is {version}, this one knows"
            f" {FORMAT_VERSION}; apply it with that one, or make a new plan with `rocky plan`"
        )
    plan, said = _parse(path.name, document)
    try:
        plan_id = plan.plan_id
    except RecursionError as error:
        raise PlanUnreadable(f"`{path.name}` is not a plan: it is nested too deep") from error
    if said != plan_id:
        raise PlanUnreadable(
            f"`{path.name}` was changed after it was made: it claims to be plan `{said}`, and its"
            f" content is that of `{plan_id}` (either the id or the content was edited);"
            " nothing was run, make a new one with `rocky plan`"
        )
    return plan


def _find(root: Path, reference: str) -> Path:
    folder = root / PLANS_FOLDER
    if _PREFIX.fullmatch(reference):
        found = [path for path in _files(folder) if path.stem.startswith(reference)]
        if len(found) == 1:
            return found[0]
        if found:
            raise PlanUnreadable(f"`{reference}` matches {len(found)} plans: give more digits")
        raise PlanUnreadable(f"no plan `{reference}` in `{PLANS_FOLDER}`; `rocky plan` makes one")
    path = Path(reference)
    if path.is_file():
        return path
    hint = f"an id has at least {_SHORTEST} digits of 0-9 and a-f"
    raise PlanUnreadable(f"no plan `{reference}`: it is neither the id of one nor a file; {hint}")


def _files(folder: Path) -> Iterator[Path]:
    return (path for path in sorted(folder.glob("*.json")) if _ID.fullmatch(path.stem))


def _document(plan: KeptPlan) -> dict[str, Any]:
    found: dict[str, Any] = {
        "version": FORMAT_VERSION,
        "plan_id": plan.plan_id,
        "kind": plan.kind,
        "created_at": format_time(plan.created_at),
        "payload": plan.payload,
        "outlook": plan.outlook,
    }
    return found if plan.created_by is None else {**found, "created_by": plan.created_by}


def _parse(name: str, document: dict[str, Any]) -> tuple[KeptPlan, str]:
    """The plan of a document, and the id that it says it has."""
    try:
        kind, payload, said = document["kind"], document["payload"], document["plan_id"]
        created_at = parse_time(document["created_at"])
        created_by, outlook = document.get("created_by"), document.get("outlook", {})
    except (KeyError, TypeError, ValueError) as error:
        raise PlanUnreadable(f"`{name}` is not a complete plan: {error}") from error
    if kind != RUN_KIND or not isinstance(payload, dict) or not isinstance(outlook, dict):
        raise PlanUnreadable(f"`{name}` is not a plan of a run")
    return KeptPlan(kind, payload, created_at, created_by, outlook), str(said)
