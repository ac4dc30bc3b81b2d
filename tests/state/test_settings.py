"""`[state]`: what is refused before anything is fetched, and what events and texts hold."""

import json
import logging
import tomllib

import pytest

from rocky.project.configuration.blocks import State
from rocky.project.configuration.config import read_config
from rocky.project.secrets import Secrets
from rocky.project.toml.documents import Problems
from rocky.state.events import UPLOAD, Outcome, SyncEvent, announce, format_event

REMOTE = 'backend = "s3"\ns3_bucket = "b"\n'


@pytest.mark.parametrize(
    ("text", "key", "word"),
    [
        ('backend = "gcs"\n', "backend", "conditional puts"),
        (REMOTE + 'concurrency_control = "off"\n', "concurrency_control", "never overwritten"),
        (REMOTE + 'on_schema_mismatch = "recreate"\n', "on_schema_mismatch", "not deleted"),
        (REMOTE + 'gcs_bucket = "b"\n', "gcs_bucket", "conditional puts"),
        (REMOTE + 'namespacing = "pipeline"\n', "namespacing", "one ledger"),
    ],
)
def test_what_cannot_be_honoured_is_refused_with_a_reason(text, key, word):
    problems: Problems = []
    read_config(tomllib.loads(f"[state]\n{text}"), problems)

    assert [("state", key)] == [each.keys for each in problems]
    assert word in problems[0].message


def test_the_defaults_are_honoured():
    problems: Problems = []
    read_config(tomllib.loads(f"[state]\n{REMOTE}"), problems)

    assert [] == problems


def test_a_state_shows_everything_but_its_password():
    state = State(backend="valkey", valkey_url="redis://:hidden@host/0", s3_prefix="seen")

    assert "hidden" not in f"{state!r} {state}"
    assert "seen" in repr(state)
    assert "valkey_url=None" in repr(State())


def test_a_secret_is_blotted_out_however_it_is_spelt():
    secrets = Secrets(["p/ss w", None, ""])

    assert "*** *** and nothing else" == secrets.scrub("p/ss w p%2Fss%20w and nothing else")
    assert "p/ss" not in repr(secrets)


def test_an_event_is_one_line_a_log_record_with_fields_and_what_a_listener_hears(caplog):
    caplog.set_level(logging.INFO, "rocky.state")
    heard: list[SyncEvent] = []
    event = SyncEvent(
        UPLOAD, Outcome.SKIPPED_AFTER_FAILURE, "s3", "s3://b/x", 4, 12, cause=Outcome.TIMEOUT
    )
    announce(event, heard.append)

    expected = {
        "event": "state.upload",
        "outcome": "skipped_after_failure",
        "backend": "s3",
        "place": "s3://b/x",
        "attempts": 4,
        "duration_ms": 12,
        "cause": "timeout",
    }
    assert expected == json.loads(format_event(event))
    assert [event] == heard
    (record,) = caplog.records
    assert ("WARNING", "skipped_after_failure", 4) == (
        record.levelname,
        record.state_outcome,
        record.state_attempts,
    )
