"""Seals as values: what is signed is read back to the letter, and nothing else is a seal."""

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rocky.evidence.seals import NotASeal, Seal, SealedTable, parse_seal
from rocky.ledger.chain import Head

SEAL = Seal(
    "0" * 32,
    Head(7, "a" * 64),
    (SealedTable("/w", "c/s/größe", 3, "b" * 64),),
    "ada@x",
    datetime(2026, 3, 1, 12, 0, 0, 5, UTC),
)


def test_what_is_signed_is_one_line_of_canonical_json():
    assert (
        '{"branch":null,"format":1,"head":{"entry_hash":"' + "a" * 64 + '","seq":7},'
        '"ledger_id":"' + "0" * 32 + '","sealed_at":"2026-03-01T12:00:00.000005Z",'
        '"signer":"ada@x","tables":[{"commit":"' + "b" * 64 + '","path":"c/s/größe","version":3,'
        '"warehouse":"/w"}]}\n'
    ) == SEAL.text
    assert SEAL == parse_seal(SEAL.text)


@pytest.mark.parametrize(
    "changes",
    [
        {"format": 2},
        {"more": 1},
        {"head": {"seq": True, "entry_hash": "a" * 64}},
        {"head": {"seq": -1, "entry_hash": "a" * 64}},
        {"head": {"seq": 7, "entry_hash": "A" * 64}},
        {"ledger_id": "x"},
        {"sealed_at": "2026-03-01"},
        {"sealed_at": "2026-03-01T12:00:00Z"},
        {"signer": ""},
        {"branch": 1},
        {"tables": {}},
        {"tables": [{"commit": "b" * 64}]},
    ],
)
def test_another_form_of_it_is_no_seal(changes):
    said = {**json.loads(SEAL.text), **changes}
    with pytest.raises(NotASeal):
        parse_seal(json.dumps(said, sort_keys=True, separators=(",", ":")) + "\n")


@pytest.mark.slow
@given(
    st.text()
    | st.recursive(st.none() | st.integers() | st.text(), st.lists, max_leaves=8).map(json.dumps)
)
def test_any_other_text_is_refused_and_ends_nothing(text):
    with pytest.raises(NotASeal):
        parse_seal(text)
