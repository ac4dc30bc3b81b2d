"""What verifying found, as text for people and as a JSON document."""

from typing import Any

from rocky.cli.render.compilation import counted
from rocky.cli.render.units import format_bytes
from rocky.evidence.verification import Verification, VerificationScope


def verification_document(scope: VerificationScope, found: Verification) -> dict[str, Any]:
    """What `rocky verify -o json` prints."""
    document: dict[str, Any] = {
        "scope": _scope_document(scope),
        "verified": not found.findings,
        "findings": [
            {"code": each.code.value, "where": each.where, "message": each.message}
            for each in found.findings
        ],
        "notes": list(found.notes),
        "checked": {
            name: found.checked.get(name, 0)
            for name in (
                "runs",
                "records",
                "entries",
                "provenances",
                "tables",
                "commits",
                "files",
                "bytes",
                "collected",
                "anchors",
            )
        },
    }
    return document


def _scope_document(scope: VerificationScope) -> dict[str, str]:
    if scope.run_id is not None:
        return {"kind": "run", "name": scope.run_id}
    if scope.target is not None:
        return {"kind": "table", "name": scope.target}
    return {"kind": "all"}


def render_verification(scope: VerificationScope, found: Verification, *, quiet: bool) -> str:
    """One line a finding, one a note, and what was checked."""
    lines = [f"{each.code}: {each.where}: {each.message}" for each in found.findings]
    if not quiet:
        lines += [f"note: {each}" for each in found.notes]
        lines += [_summary(scope, found)]
    return "\n".join(lines)


def _summary(scope: VerificationScope, found: Verification) -> str:
    checked = found.checked
    what = {"run": "run `{}`", "table": "table `{}`"}.get(_scope_document(scope)["kind"], "")
    name = what.format(scope.run_id or scope.target)
    verdict = counted(len(found.findings), "finding") if found.findings else "verified"
    parts = [
        counted(checked.get("records", 0), "record"),
        f"{checked.get('entries', 0):,} entries of the chain",
        counted(checked.get("commits", 0), "commit")
        + " of "
        + counted(checked.get("tables", 0), "table"),
        counted(checked.get("files", 0), "file") + f" ({format_bytes(checked.get('bytes', 0))})",
    ]
    if checked.get("collected"):
        parts.append(f"{counted(checked['collected'], 'file')} collected since")
    return f"{verdict}{': ' if name else ''}{name}: {', '.join(parts)}"
