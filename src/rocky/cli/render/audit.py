"""Who ran what, where and from which code: a few lines a run, with whole hashes.

An auditor copies the commit and the config's hash into other tools, so neither is shortened.
"""

from collections.abc import Sequence
from typing import Any, Final

from rocky.ledger.records import RunRecord

AUDIT_FIELDS: Final = (
    "config_hash",
    "triggering_identity",
    "session_source",
    "git_commit",
    "git_branch",
    "git_dirty",
    "target_catalog",
    "warehouse",
    "hostname",
    "rocky_version",
    "pipeline",
    "selection",
    "full_refresh",
    "engine",
    "reason",
)
_INDENT: Final = "  "
_LABEL_WIDTH: Final = 8


def audit_of(run: RunRecord) -> dict[str, Any]:
    """The audit's part of a run's document; what is not known is absent."""
    whole = run.to_json()
    return {name: whole[name] for name in AUDIT_FIELDS if name in whole}


def render_audit(entries: Sequence[tuple[str, RunRecord | None]]) -> str:
    """Blocks: a title each, and below it who, how, from which commit, where and with what."""
    return "\n\n".join("\n".join([title, *_facts(run)]) for title, run in entries)


def _facts(run: RunRecord | None) -> list[str]:
    if run is None:
        return [f"{_INDENT}the run itself is no longer recorded"]
    facts = {
        "who": run.triggering_identity or "nobody is recorded",
        "trigger": f"{run.trigger} (session source: {run.session_source})",
        "commit": describe_commit(run),
        "host": f"{run.hostname}, Rocky {run.rocky_version}",
        "config": run.config_hash,
    }
    if run.selection:
        facts["selected"] = " ".join(run.selection)
    if run.reason is not None:
        facts["ended"] = run.reason
    return [f"{_INDENT}{label:<{_LABEL_WIDTH}}  {value}" for label, value in facts.items()]


def describe_commit(run: RunRecord) -> str:
    """The commit, its branch, and whether it is all there was."""
    if run.git_commit is None:
        return "no git commit is recorded"
    branch = f" on {run.git_branch}" if run.git_branch is not None else ", on no branch"
    if run.git_dirty is None:
        return f"{run.git_commit}{branch}"
    return f"{run.git_commit}{branch}, {'with uncommitted changes' if run.git_dirty else 'clean'}"
