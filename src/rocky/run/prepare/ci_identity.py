"""The job of a CI service that a run is part of, as the service's own variables name it.

Whoever may write the job's definition may set most of them, so this is a trail to follow in the
service's own log, and no proof. No token is read.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple


class _Service(NamedTuple):
    """A service: the variable that says so, and where each fact is."""

    name: str
    mark: str
    facts: Mapping[str, str]


_SERVICES: Final = (
    _Service(
        "github",
        "GITHUB_ACTIONS",
        {
            "server": "GITHUB_SERVER_URL",
            "repository": "GITHUB_REPOSITORY",
            "repository_id": "GITHUB_REPOSITORY_ID",
            "workflow": "GITHUB_WORKFLOW_REF",
            "run": "GITHUB_RUN_ID",
            "attempt": "GITHUB_RUN_ATTEMPT",
            "actor": "GITHUB_ACTOR",
            "actor_id": "GITHUB_ACTOR_ID",
            "triggered_by": "GITHUB_TRIGGERING_ACTOR",
            "event": "GITHUB_EVENT_NAME",
            "ref": "GITHUB_REF",
            "commit": "GITHUB_SHA",
        },
    ),
    _Service(
        "gitlab",
        "GITLAB_CI",
        {
            "server": "CI_SERVER_URL",
            "repository": "CI_PROJECT_PATH",
            "repository_id": "CI_PROJECT_ID",
            "workflow": "CI_CONFIG_PATH",
            "run": "CI_PIPELINE_ID",
            "job": "CI_JOB_ID",
            "actor": "GITLAB_USER_LOGIN",
            "actor_id": "GITLAB_USER_ID",
            "event": "CI_PIPELINE_SOURCE",
            "ref": "CI_COMMIT_REF_NAME",
            "commit": "CI_COMMIT_SHA",
        },
    ),
)
_LONGEST: Final = 500


def find_ci_identity(env: Mapping[str, str]) -> dict[str, str]:
    """The facts of the job, with its `service`; empty where there is none."""
    for service in _SERVICES:
        if env.get(service.mark, "").lower() != "true":
            continue
        found = {key: env.get(name, "")[:_LONGEST] for key, name in service.facts.items()}
        return {"service": service.name, **{key: value for key, value in found.items() if value}}
    return {}
