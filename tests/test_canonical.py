"""The bytes that are hashed: recorded ledgers, plans, approvals and tables hold hashes of them.

Every hash here was recorded. If one of these tests fails, what people have on disk no longer fits:
mend the code, never the hash.
"""

import math
import re
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace

import pytest
from blake3 import blake3

from rocky.branches.approvals.statements import Kind, Statement
from rocky.branches.state_hash import hash_state
from rocky.canonical import (
    ascii_json,
    canonical_json,
    line_json,
    ordered_json,
    record_json,
    record_json_of_list,
    sorted_json,
    text_hash,
)
from rocky.language.datatypes.types import BIGINT, DOUBLE, STRING, StructField, array, struct
from rocky.language.ir import Meaning, hash_meaning, ir_document, ir_text
from rocky.ledger.chain import Head, format_entry, make_entry
from rocky.ledger.provenance import content_hash, input_hash_of, skip_hash_of, source_hash
from rocky.plan.kept_plan import plan_id_of
from rocky.project.interfaces import content_hash as interface_hash
from rocky.project.toml.documents import digest_data
from rocky.run.materialize.incremental import Watermark
from rocky.run.materialize.seeds import seed_hash
from rocky.run.prepare.environment import Environment

SOURCE = Path(__file__).parents[1] / "src" / "rocky"
AWKWARD = {"ß": 1.5, "b": [True, None, "日\udc80"], "a": {"z": -0.0, "y": 1e30, "x": 'é \u2028"\\'}}
MOMENT = datetime(2024, 2, 29, 12, 30, 15, 123456, tzinfo=UTC)
STATE = {
    "version": 1,
    "code": {"models": {"größe": {"recipe_hash": "ab" * 32}}, "seeds": {}, "sources": {}},
    "config_hash": "cd" * 32,
    "tables": {"cat.dev.t\udcff": {"base_version": 3, "rows": 12}},
    "verdict": {"impact": "none"},
}
MEANING = Meaning(
    name="größe\udc80",
    sql="SELECT 1 AS `é`, 'x' AS b",
    normal_sql_hash="ef" * 32,
    target="cat.dev.größe",
    materialization={
        "strategy": "merge",
        "unique_key": ["é"],
        "absent": None,
        "at": {"b": 1, "a": 2},
    },
    columns=[
        ("é", BIGINT, False),
        (
            "b",
            array(struct((StructField("x", STRING, True), StructField("y", DOUBLE, False)))),
            True,
        ),
    ],
    edges=[("é", "direct", "id", "raw.orders")],
    influences=[("filter", "id", "raw.orders")],
    reads=["raw.orders", "raw.items"],
    determinism=["float: sum"],
)
SEED = SimpleNamespace(
    columns=(StructField("größe", BIGINT, True),), delimiter=";", content_hash=b"\x01" * 32
)
UPSTREAMS = [
    {"upstream_key": "raw.zoo", "kind": "source", "content": "11"},
    {"upstream_key": "größe", "kind": "model", "content": "22"},
]


def statement() -> Statement:
    return Statement(
        Kind.APPROVAL,
        "fix/größe",
        MOMENT,
        hash_state(STATE),
        STATE,
        "zoë@example.com",
        MOMENT,
        message="gut\nso",
        git_dirty=False,
    )


RECORDED = {
    "chain entry": "61b556320a364d83fad1e43d7af74bdf0bf24e03f427a4272c1597e757a34867",
    "chain entry of a row that is gone": "80415e8014d222523d92d797500c94b1913441e98706899743bf64826ac1ec47",
    "chain entry as it is stored": "34e82f3014444c18c8417544cb4f8c56c2cdf5b93cac2f2c6d8dfcfe5ab34844",
    "plan id": "ce6e9f1e275e5f745357526f0148a0434cf85e79dc7867a638433b9beea02c2d",
    "approval statement": "13c4b6a6fff441790c82f63ddcd1dfa0eb7d8326a8a8bee32f099637067e7731",
    "approval id": "20240229T123015123456-13c4b6a6",
    "branch state": "1145f970dc38c91e02aa04aa4d1a6fdd0657c842de68ffc2fbd0c7517a82b008",
    "recipe": "f6473e582de3e863dcc6896a50f9895d1af640018137ae1991a0a9c406e9c65b",
    "skip hash": "ea7e722bdb88fc223ab7e4a4b9194017c483a2ba1be74e84d0b5003afd414310",
    "model IR as it is recorded": "f6473e582de3e863dcc6896a50f9895d1af640018137ae1991a0a9c406e9c65b",
    "skip hash from a recorded IR": "ea7e722bdb88fc223ab7e4a4b9194017c483a2ba1be74e84d0b5003afd414310",
    "input hash": "b98113df4389055f28847e37ee509d552563eaa1730d236742a74c424148d027",
    "content of two files": "6ee767f4bf898d55f125824cb06a05d8b5078ed70c8daa3aeded707581e481fa",
    "files of a source": "67a6fd25b2623c86849c2b3cd5f59beb41834d356b91da14a93ad637a5b2b281",
    "interface": "46bb4601ffc3418dfad062cc51f9f4de319803a834340a46e7868799257c8066",
    "seed": "48b2be9535f4f5a3c08bab673ce7faa8dede216dfaa75937d92f36bd3dd39db1",
    "settings with variables": "8e1c92d4d92e11495bc5d11d1757df9b8e087d3ae5ba55abab6d44811841963c",
    "environment": "d18b17d8fe1f97b879520bbf3429bd2c2071877af3c1a1a305f39e7802ca30ab",
    "watermark": "2e9719b154fe1acc40dcc03a7a507f604ff9b5d7bf53440719975aac1a56d62d",
}


def found() -> dict[str, str]:
    entry = make_entry(Head(41, "aa" * 32), "run_records", "run\udc80|größe", '{"a":"\udc80"}')
    removed = make_entry(entry.head, "run_records", "größe", None)
    recipe, skip = hash_meaning(MEANING)
    data = SimpleNamespace(text='a = "${X}"\n', data={"z": "é", "a": MOMENT.date(), "n": 1})
    environment = Environment("4.1.0", "größe", {"b": "2", "a": "1"}, {"z": "é"}, {"y": "blake3:0"})
    return {
        "chain entry": entry.entry_hash,
        "chain entry of a row that is gone": removed.entry_hash,
        "chain entry as it is stored": text_hash(format_entry(entry)),
        "plan id": plan_id_of("run", AWKWARD),
        "approval statement": text_hash(statement().text),
        "approval id": statement().approval_id,
        "branch state": hash_state(STATE),
        "recipe": recipe,
        "skip hash": skip,
        "model IR as it is recorded": text_hash(ir_text(MEANING)),
        "skip hash from a recorded IR": skip_hash_of(ir_document(MEANING)),
        "input hash": input_hash_of("aa" * 32, "cat.dev.größe", UPSTREAMS),
        "content of two files": content_hash(["bb" * 32, "aa" * 32]),
        "files of a source": source_hash([("größe\udc80", "bb" * 32), ("a", "aa" * 32)]),
        "interface": interface_hash({**AWKWARD, "interface_hash": "left out"}),
        "seed": seed_hash(SEED),
        "settings with variables": digest_data(data).hex(),
        "environment": environment.hash,
        "watermark": text_hash(Watermark("größe", "BIGINT", "7").to_json()),
    }


def test_every_recorded_hash_is_made_of_the_same_bytes():
    assert RECORDED == found()


def test_the_forms_differ_only_where_recorded_hashes_hold_them_apart():
    document = {"ß": 1.5, "b": [True, None, "日\udc80"], "a": {"z": -0.0, "y": '\u2028"\\'}}

    compact = '{"a":{"y":"\u2028\\"\\\\","z":-0.0},"b":[true,null,"日SURROGATE"],"ß":1.5}'
    assert compact.replace("SURROGATE", "\udc80") == sorted_json(document)
    assert compact.replace("SURROGATE", r"\udc80") == canonical_json(document)
    assert canonical_json(document) == record_json(document)
    spaced = '{"a": {"y": "\u2028\\"\\\\", "z": -0.0}, "b": [true, null, "日\udc80"], "ß": 1.5}'
    assert spaced == line_json(document)
    plain = (
        r'{"a": {"y": "\u2028\"\\", "z": -0.0}, "b": [true, null, "\u65e5\udc80"], "\u00df": 1.5}'
    )
    assert plain == ascii_json(document)
    assert '{"b":"\udc80","a":"é"}' == ordered_json({"b": "\udc80", "a": "é"})


def test_a_row_of_the_ledger_holds_no_number_that_sqlite_cannot_read():
    with pytest.raises(ValueError, match="not JSON compliant"):
        record_json({"rows": math.nan})

    assert '{"rows":NaN}' == canonical_json({"rows": math.nan})


def test_the_hash_of_a_text_is_the_blake3_of_its_bytes():
    assert blake3("größe".encode()).hexdigest() == text_hash("größe")


def test_only_the_canonical_module_sorts_the_keys_of_json():
    sorting = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        if re.search(r"sort_keys|JSONEncoder\(", path.read_text())
    }

    # A kept plan is laid out for people; its id is of canonical JSON.
    # And what a template of dbt asks for is sorted as dbt sorts it.
    assert {"canonical.py", "plan/kept_plan.py", "dbt/template_values.py"} == sorting


@pytest.mark.parametrize("document", [{}, {"a": 1}, {"z": [2]}, {"a": "\udc80", "z": {"b": None}}])
@pytest.mark.parametrize("listed", [[], [{}], [{"b": "日\udc80", "a": 1.5}, {"c": []}]])
def test_a_list_that_is_encoded_item_by_item_is_the_same_to_the_letter(document, listed):
    whole = record_json({**document, "models": listed})

    assert whole == record_json_of_list(document, "models", map(record_json, listed))
