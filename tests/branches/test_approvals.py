"""Which statements count: every way to forge, replay or outlive one is refused with its reason."""

import base64
import contextlib
import copy
import json
import shutil
import subprocess
from dataclasses import replace
from datetime import timedelta

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from rocky.branches.approvals.ssh import NotASignature, decode_key, parse_signature
from rocky.branches.approvals.statements import (
    Kind,
    UnusableFile,
    parse_signed_statement,
    parse_statement,
)
from rocky.branches.approvals.validity import RejectionReason, find_shortfall
from rocky.canonical import canonical_json, text_hash
from rocky.errors import ApprovalRefused
from tests.branches.statements import EVERYBODY, NOW, RECORD, STATE, Desk, edited_text


@pytest.fixture
def desk(tmp_path, keys):
    return Desk(tmp_path, keys)


def edited(path, **changes):
    """The text of a statement with other values, and a state hash that fits its state."""
    said = json.loads(path.read_text())
    said.update(changes)
    return canonical_json({key: value for key, value in said.items() if value is not None})


def changed_state(*path, to):
    """The state with another value at a path of keys."""
    state = copy.deepcopy(dict(STATE))
    at = state
    for key in path[:-1]:
        at = at[key]
    at[path[-1]] = to
    return state


def test_an_approval_by_somebody_else_counts(desk):
    signed = desk.sign("bob", message="looks right")

    (accepted,) = desk.check().accepted
    assert signed.record == accepted
    assert "bob@example.com" == accepted.approver
    assert decode_key(desk.keys.public("bob").split()[1]).fingerprint == accepted.key_fingerprint
    assert f"bob@example.com {desk.keys.public('bob')}" == accepted.allowed_signer
    assert None is find_shortfall(desk.check(), desk.policy)


def test_a_statement_is_the_bytes_that_were_signed_and_is_named_by_its_hash(desk):
    signed = desk.sign("bob", message="été")
    data = signed.files.statement.read_bytes()

    assert signed.record.statement.encode() == data
    assert f"20260301T120000123456-{text_hash(data.decode())[:8]}" == signed.record.approval_id
    assert parse_statement(data.decode()) == signed.statement
    assert desk.question().state.hash == json.loads(data)["state_hash"]
    assert STATE == json.loads(data)["state"]


def test_anybody_can_check_one_with_ssh_keygen_alone(desk):
    signed = desk.sign("bob")
    signers = desk.root / "allowed_signers"
    signers.write_text(desk.keys.listed(**EVERYBODY))
    line = f"ssh-keygen -Y verify -f allowed_signers -I bob@example.com -n rocky-approval -s {signed.files.signature}"

    with signed.files.statement.open("rb") as statement:
        said = subprocess.run(
            line.split(), stdin=statement, cwd=desk.root, capture_output=True, text=True, check=True
        )

    assert 'Good "rocky-approval" signature for bob@example.com' in said.stdout


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("approver", "cleo@example.com"),
        ("branch", "other"),
        ("branch_created_at", "2026-02-28T12:00:00.123457Z"),
        ("git_commit", "0" * 40),
        ("git_dirty", None),
        ("kind", "allow_breaking"),
        ("message", "another message"),
        ("signed_at", "2026-03-01T12:00:01.123456Z"),
    ],
)
def test_a_statement_that_was_edited_is_refused(desk, field, value):
    path = desk.sign("bob", message="fine", git_commit="1" * 40, git_dirty=False).files.statement
    path.write_text(edited(path, **{field: value}))

    assert ["bad_signature"] == desk.verdicts()


def test_a_statement_whose_state_was_edited_is_refused(desk):
    path = desk.sign("bob").files.statement
    other = changed_state("verdict", "impact", to="none")
    path.write_text(edited(path, state=other, state_hash=text_hash(canonical_json(other))))
    assert ["bad_signature"] == desk.verdicts()

    path.write_text(edited(path, state=STATE))
    assert ["parse_error"] == desk.verdicts()
    assert ["its `state` does not hash to its `state_hash`"] == desk.details()


@pytest.mark.parametrize(
    "spoil",
    [
        lambda text: text.replace(":", ": "),
        lambda text: text + "\n",
        lambda text: text.replace('{"approver"', '{"approver":"x","approver"'),
        lambda text: text.replace('"version":1', '"version":2'),
        lambda text: text.replace('"version":1', '"version":1,"zeal":1'),
        lambda text: text[: len(text) // 2],
        lambda text: "[" * 100_000,
        lambda text: text.replace(
            '"config_hash"', '"a":' + "[" * 900 + "]" * 900 + ',"config_hash"'
        ),
        lambda text: text.replace("bob@example.com", "bob\\ud800"),
        lambda text: text.replace("bob@example.com", "bob\\u001b[2J"),
        lambda text: text.replace("2026-03-01T12", "0001-01-01T12").replace("Z", "+23:59"),
        lambda text: text.replace('"version":1}', '"version":1,"weight":1e999}'),
        lambda text: "7",
        lambda text: "",
    ],
)
def test_a_text_that_is_not_the_canonical_statement_is_refused(desk, spoil):
    path = desk.sign("bob").files.statement
    path.write_text(spoil(path.read_text()))

    assert ["parse_error"] == desk.verdicts()


def test_what_a_statement_says_cannot_move_a_cursor(desk):
    signed = desk.sign("bob")
    desk.forge(signed, "bob", edited_text(signed, branch="a\x1b[2Jb"))

    assert ["it is about the branch `a\\x1b[2Jb`"] == desk.details()


@pytest.mark.slow
@given(st.binary(max_size=300), st.text(max_size=300))
def test_nothing_that_lies_there_stops_the_check(data, text):
    assert isinstance(parse_signed_statement("x", data, text), UnusableFile)


@given(st.binary(max_size=200))
def test_no_signature_stops_the_check(data):
    body = base64.b64encode(b"SSHSIG\0\0\0\1" + data).decode()
    armoured = f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n"
    with contextlib.suppress(NotASignature):
        parse_signature(armoured)


def test_a_signature_that_was_edited_is_refused(desk):
    path = desk.sign("bob").files.signature
    lines = path.read_text().splitlines()
    for at in range(1, len(lines) - 1):
        other = [*lines]
        other[at] = other[at][:-6] + ("AAAAAA" if other[at][-6:] != "AAAAAA" else "BBBBBB")
        path.write_text("\n".join(other) + "\n")
        assert desk.verdicts() in (["bad_signature"], ["unknown_key"])


@pytest.mark.parametrize("text", ["", "nonsense", "-----BEGIN SSH SIGNATURE-----\nAAAA\n"])
def test_what_is_no_signature_is_refused(desk, text):
    desk.sign("bob").files.signature.write_text(text)

    assert ["bad_signature"] == desk.verdicts()


def test_the_signature_of_another_statement_is_refused(desk):
    first = desk.sign("bob", message="one")
    desk.now += timedelta(seconds=1)
    second = desk.sign("cleo", message="two")
    shutil.copy(first.files.signature, second.files.signature)

    assert ["counts", "bad_signature"] == desk.verdicts()


def test_an_approval_of_another_branch_copied_over_is_refused(desk):
    signed = desk.sign("bob")
    desk.record = replace(RECORD, name="other")
    shutil.copytree(signed.files.statement.parent, desk.root / ".rocky/approvals/other")

    assert ["wrong_branch"] == desk.verdicts()
    assert ["it is about the branch `feature`"] == desk.details()


def test_an_approval_of_an_earlier_branch_of_that_name_is_refused(desk):
    desk.sign("bob")
    desk.record = replace(RECORD, created_at=NOW - timedelta(hours=1))

    assert ["wrong_branch"] == desk.verdicts()
    assert ["it is about an earlier branch of this name"] == desk.details()


def test_an_approval_under_another_file_name_is_refused(desk):
    signed = desk.sign("bob")
    other = signed.files.statement.with_name("20990101T000000000000-00000000.json")
    signed.files.statement.rename(other)
    signed.files.signature.rename(other.with_name(f"{other.name}.sig"))

    assert ["parse_error"] == desk.verdicts()


def test_an_approval_that_is_too_old_is_refused(desk):
    desk.sign("bob")
    desk.now = NOW + timedelta(seconds=86400)
    assert ["counts"] == desk.verdicts()

    desk.now += timedelta(seconds=1)
    assert ["expired"] == desk.verdicts()
    assert ["it is 86401 s old, and 86400 s is the limit"] == desk.details()


def test_an_approval_from_the_future_is_refused(desk):
    desk.now = NOW + timedelta(minutes=10)
    desk.sign("bob")
    desk.now = NOW

    assert ["in_future"] == desk.verdicts()


def test_clocks_may_be_a_minute_apart(desk):
    desk.now = NOW + timedelta(seconds=60)
    desk.sign("bob")
    desk.now = NOW

    assert ["counts"] == desk.verdicts()


@pytest.mark.parametrize(
    ("path", "value", "named"),
    [
        (("code", "models", "orders", "recipe_hash"), "a2", "code of model `orders`"),
        (("code", "models", "orders", "settings_hash"), "b2", "code of model `orders`"),
        (("code", "models", "new"), {}, "code of model `new`"),
        (("code", "seeds", "countries"), "c2", "seed `countries`"),
        (("code", "sources", "raw.orders"), "d2", "source `raw.orders`"),
        (("code", "imports", "crm"), "d3", "import `crm`"),
        (("config_hash",), "e2", "the settings in `rocky.toml`"),
        (("contracts", "orders"), "f2", "contract of `orders`"),
        (("tables", "c.s.orders", "content"), "ab", "table `c.s.orders`"),
        (("tables", "c.s.orders", "rows"), 3, "table `c.s.orders`"),
        (("tables", "c.s.orders", "base_version"), 4, "table `c.s.orders`"),
        (("tables",), {}, "table `c.s.orders`"),
        (("verdict", "impact"), "breaking", "the verdict"),
        (("version",), 99, "what an approval covers, with another release of Rocky"),
    ],
)
def test_an_approval_dies_when_anything_it_covers_changes(desk, path, value, named):
    desk.sign("bob")
    desk.state = changed_state(*path, to=value)

    assert ["state_hash_mismatch"] == desk.verdicts()
    assert [f"changed since: {named}"] == desk.details()


def test_many_changes_are_not_all_listed(desk):
    desk.sign("bob")
    desk.state = changed_state("code", "models", to={f"m{at}": {} for at in range(9)})

    (detail,) = desk.details()
    assert detail.endswith(" and 5 more")


def test_half_of_a_pair_is_no_approval_and_blocks_no_other(desk):
    signed = desk.sign("bob")
    folder = signed.files.statement.parent
    (folder / "20260301T110000000000-aaaaaaaa.json").write_text(signed.record.statement)
    (folder / "20260301T110000000000-bbbbbbbb.json.sig").write_text("only a signature")
    (folder / "20260301T110000000000-cccccccc.json").mkdir()
    (folder / "20260301T110000000000-dddddddd.json").write_bytes(b"\xff\xfe")
    (folder / "20260301T110000000000-dddddddd.json.sig").write_text("x")
    (folder / ".writing-abc").write_text("half a text")

    assert ["bad_signature", "parse_error", "parse_error", "counts"] == desk.verdicts()


def test_a_branch_that_nobody_signed_for_has_no_approvals(desk):
    assert [] == desk.verdicts()
    assert "1 person must approve this state of the branch, and nobody did" == find_shortfall(
        desk.check(), desk.policy
    )


def test_nothing_is_short_where_nothing_is_required(desk):
    assert None is find_shortfall(desk.check(), replace(desk.policy, required=False))


def test_what_would_not_count_is_not_stored(desk):
    desk.lists = [desk.keys.listed(cleo="cleo@example.com")]

    with pytest.raises(ApprovalRefused, match="it would not count: unknown_key"):
        desk.sign("bob")
    assert not (desk.root / ".rocky").exists()


def test_leave_to_break_needs_a_reason_and_is_no_approval(desk):
    with pytest.raises(ApprovalRefused, match="needs a reason"):
        desk.sign("bob", kind=Kind.ALLOW_BREAKING, message="  ")
    desk.authors = frozenset({"bob@example.com"})
    signed = desk.sign("bob", kind=Kind.ALLOW_BREAKING, message="agreed with the readers")

    assert ["wrong_kind"] == desk.verdicts()
    assert ["counts"] == desk.verdicts(Kind.ALLOW_BREAKING)
    assert "allow_breaking" == signed.record.kind
    assert "agreed with the readers" == json.loads(signed.record.statement)["message"]


def test_an_approval_is_no_leave_to_break(desk):
    desk.sign("bob")

    assert ["wrong_kind"] == desk.verdicts(Kind.ALLOW_BREAKING)


def test_without_a_list_nobody_may_sign(desk):
    desk.sign("bob")
    desk.lists = ["# nobody yet\n"]

    assert ["unknown_key"] == desk.verdicts()


def test_the_guide_explains_every_verdict(repository):
    guide = (repository / "docs/guides/approvals.md").read_text()

    assert [] == [each.value for each in RejectionReason if f"| `{each.value}` |" not in guide]


@pytest.mark.skipif(shutil.which("jq") is None, reason="no jq")
def test_the_state_in_a_statement_hashes_with_jq_and_b3sum(desk):
    path = desk.sign("bob").files.statement
    said = subprocess.run(["jq", "-cSj", ".state", path], capture_output=True, check=True)

    assert json.loads(path.read_text())["state_hash"] == blake3(said.stdout).hexdigest()
