"""The bodies that chat and paging services take: a sentence, and the facts beside it."""

from collections.abc import Mapping
from typing import Any, Final

from rocky.project.configuration.hooks import Hook

_SHOWN: Final = ("pipeline", "branch", "run_id", "status", "triggering_identity", "git_commit")
_LONGEST: Final = 1000
"""Services refuse long texts; all of it is in the run's report."""


def body_of(hook: Hook, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """What is sent to a hook's address."""
    match hook.format:
        case "slack":
            return {"text": _text(document)}
        case "teams":
            return _card(document)
        case "pagerduty":
            return _alert(document, hook.routing_key)
        case "json":
            return document


def _text(document: Mapping[str, Any]) -> str:
    # Slack gives these three a meaning of its own.
    title = str(document["title"])
    for mark, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        title = title.replace(mark, escaped)
    return title[:_LONGEST]


def _card(document: Mapping[str, Any]) -> Mapping[str, Any]:
    facts = [
        {"title": key.replace("_", " "), "value": str(document[key])}
        for key in _SHOWN
        if key in document
    ]
    title = {"type": "TextBlock", "wrap": True, "text": str(document["title"])[:_LONGEST]}
    card = {
        "type": "AdaptiveCard",
        "version": "1.4",
        "body": [title, {"type": "FactSet", "facts": facts}],
    }
    attachment = {"contentType": "application/vnd.microsoft.card.adaptive", "content": card}
    return {"type": "message", "attachments": [attachment]}


def _alert(document: Mapping[str, Any], routing_key: str | None) -> Mapping[str, Any]:
    """An alert for each project and pipeline, which a run that succeeds resolves."""
    event, project = document["event"], document["project"]
    good = event == "on_run_success"
    return {
        "routing_key": str(routing_key),
        "event_action": "resolve" if good else "trigger",
        "dedup_key": f"rocky:{project}:{document.get('pipeline', '')}",
        "payload": {
            "summary": str(document["title"])[:_LONGEST],
            "source": f"rocky:{project}",
            "severity": "error" if event.endswith("failure") else "warning",
            "custom_details": dict(document),
        },
    }
