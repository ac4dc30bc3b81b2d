"""Who ran what, where and from which code: a few lines a run, with whole hashes.

An auditor copies the commit and the config's hash into other tools, so neither is shortened.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rocky.operations.history import RunAudit

_TREES: Final = {
    True: "dirty: what ran is not what the commit has",
    False: "clean",
    None: "not known",
}
_LABEL_WIDTH: Final = 8


class AuditEntry(NamedTuple):
    """What is accounted for: a run, or one model's execution in it. `run` may have been removed."""

    title: str
    facts: dict[str, str]
    run: RunAudit | None


def render_audit(entries: Sequence[AuditEntry]) -> str:
    """A block each: what happened, who did it, from which commit, where and with what."""
    blocks = []
    for title, facts, run in entries:
        more = _facts(run) if run is not None else {"run": "its own record is gone"}
        blocks.append(
            "\n".join(
                [
                    title,
                    *(
                        f"  {name:<{_LABEL_WIDTH}}  {value}"
                        for name, value in (facts | more).items()
                    ),
                ]
            )
        )
    return "\n\n".join(blocks)


def _facts(run: RunAudit) -> dict[str, str]:
    facts = {
        "who": run.triggering_identity or "nobody is recorded",
        "trigger": f"{run.trigger} (session source: {run.session_source})",
        "commit": run.git_commit or "none is recorded",
        "branch": run.git_branch or "none is recorded",
        "tree": _TREES[run.git_dirty],
        "host": run.hostname,
        "rocky": run.rocky_version,
        "config": run.config_hash,
    }
    if run.selection:
        facts["selected"] = " ".join(run.selection)
    if run.reason is not None:
        facts["ended"] = run.reason
    return facts
