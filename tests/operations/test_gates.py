"""Gates: nothing moves production that is not let through, from Python as on the command line."""

import json
import os
import shutil
import sqlite3
import subprocess
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from inspect import signature

import pytest

import rocky
from rocky.branches.approvals.readiness import Candidate
from rocky.branches.approvals.signatures import Signer
from rocky.branches.approvals.ssh import Keygen, KeyLocation, SigningKey
from rocky.branches.approvals.validity import check_approvals
from rocky.branches.promotion import clearance
from rocky.branches.promotion.clearance import (
    Clearance,
    PromotionClearance,
    RevertClearance,
    clear_recovery,
)
from rocky.branches.promotion.moves import Move, PreparedMove, commit_moves, prepare_moves
from rocky.branches.promotion.promotion_run import PromotionRun, open_promotion_run
from rocky.errors import (
    ApprovalRefused,
    InvalidRequest,
    PromotionRefused,
    PromotionUnfinished,
    RockyError,
)
from rocky.ledger.branches import load_promotions
from rocky.operations.branch import promotion
from rocky.operations.branch.approve import ApproveRequest, approve
from rocky.operations.branch.gate import clear_promotion
from rocky.operations.branch.promotion import (
    PromoteRequest,
    RecoverRequest,
    RevertRequest,
    open_production,
    promote,
    recover,
    revert,
)
from rocky.operations.workspace import Workspace, load_workspace
from rocky.project.models import Target
from rocky.run.prepare.session import RunSession
from rocky.store.journal import Journal, JournalledTable, PreparedStamp, load_journals
from tests.architecture.sources import MODULES, PACKAGE, load_source
from tests.branches.shops import TABLE, BranchShop, Template, enter_shop
from tests.run.runs import write

pytestmark = pytest.mark.slow

RULES = "[branch.approval]\nrequired = true\nmax_age_seconds = 86400\n"
MORE = "SELECT max(n) AS most, 1 AS one FROM by_country"
BREAKING = "SELECT 1 AS one FROM by_country"
KEY = "../bob"
PROMOTE = ("branch", "promote", "b1")


def prepare(shop: BranchShop) -> None:
    """A shop where Bob has to approve, with a branch that Ann has changed and built."""
    key = shop.root / KEY
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key], check=True)
    listed = " ".join(key.with_name("bob.pub").read_text().split()[:2])
    config = (shop.root / "rocky.toml").read_text() + RULES
    write(shop.root, {"rocky.toml": config, "allowed_signers": f"bob@example.com {listed}\n"})
    shop.commit("who may approve")
    shop.do("run")
    shop.do("branch", "create", "b1")
    build(shop, MORE)


def build(shop: BranchShop, report: str) -> None:
    shop.write(report=report)
    shop.do("run", "--branch", "b1")


@pytest.fixture(scope="module")
def branched(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("gates"), prepare)


@pytest.fixture
def shop(branched, monkeypatch) -> BranchShop:
    return branched.put_back(monkeypatch)


@pytest.fixture
def workspace(shop) -> Workspace:
    return workspace_of(shop)


def workspace_of(shop: BranchShop) -> Workspace:
    return Workspace(shop.root, environment=dict(os.environ))


def sign(shop: BranchShop) -> None:
    request = ApproveRequest("b1", key=KEY, principal="bob@example.com")
    approve(workspace_of(shop), request)


def refused(
    shop: BranchShop, call: Callable[[], object], *line: str, kind: type = PromotionRefused
) -> str:
    """Why it is refused: in the same words by both ways in, and production is as it was."""
    before, known = shop.contents(), load_promotions(shop.state())
    with pytest.raises(RockyError) as caught:
        call()
    answer = shop.rocky(*line)

    assert (kind, 1) == (caught.type, answer.code)
    assert answer.err.endswith(f"error: {caught.value}\n")
    assert (before, known) == (shop.contents(), load_promotions(shop.state()))
    return str(caught.value)


def refused_promotion(shop: BranchShop) -> str:
    request = PromoteRequest("b1")
    return refused(shop, lambda: promote(workspace_of(shop), request), *PROMOTE)


def test_without_approvals(shop):
    assert "1 person must approve this state of the branch, and nobody did" in (
        refused_promotion(shop)
    )


def test_with_an_approval_of_another_state(shop):
    sign(shop)
    build(shop, f"{MORE} WHERE n > 0")

    assert "state_hash_mismatch (changed since: code of model `report`" in refused_promotion(shop)


def test_with_an_approval_that_is_too_old(shop, monkeypatch):
    sign(shop)
    moment = datetime.now(UTC) + timedelta(days=2)

    class Later:
        @staticmethod
        def now(_zone: object) -> datetime:
            return moment

    monkeypatch.setattr(promotion, "datetime", Later)

    assert "s old, and 86400 s is the limit" in refused_promotion(shop)


def test_with_an_approval_that_somebody_has_changed(shop):
    sign(shop)
    (statement,) = (shop.root / ".rocky/approvals/b1").glob("*.json")
    statement.write_text(statement.read_text().replace("bob@", "eve@"))

    assert "bad_signature" in refused_promotion(shop)


def test_with_a_change_that_breaks_readers(shop, workspace):
    build(shop, BREAKING)
    sign(shop)

    assert "the change breaks readers: report.most: column_removed" in refused_promotion(shop)
    # Who breaks readers says why, and signs it.
    unsaid = PromoteRequest("b1", allow_breaking=True, key=KEY, principal="bob@example.com")
    with pytest.raises(ApprovalRefused, match="breaking readers needs a reason"):
        promote(workspace, unsaid)
    done = promote(workspace, replace(unsaid, message="nobody reads it")).promotion
    assert ["approval", "allow_breaking"] == [each.kind for each in done.approvals]


def test_with_an_input_that_production_has_changed(shop):
    sign(shop)
    data = shop.root / "data/orders.csv"
    before = data.read_text()
    data.write_text(before + "4,FR\n")
    shop.do("run", "--model", "stg_orders")
    shop.do("run", "--model", "by_country")
    data.write_text(before)

    assert f"`{TABLE}report` was built of `{TABLE}by_country` as it was" in refused_promotion(shop)


def test_with_a_table_that_production_has_changed(shop):
    sign(shop)
    shop.write(report=f"{MORE} WHERE n > 1")
    shop.do("run", "--model", "report")
    shop.write(report=MORE)

    assert "production has changed since the branch was made" in refused_promotion(shop)


def test_with_tables_that_are_not_what_the_code_makes(shop, workspace):
    sign(shop)
    shop.write(report=f"{MORE} WHERE n > 0")

    assert "`report` has changed since it was built on the branch" in refused_promotion(shop)
    request = ApproveRequest("b1", key=KEY, principal="bob@example.com")
    line = ("branch", "approve", "b1", "--key", KEY, "--as", "bob@example.com")
    said = refused(shop, lambda: approve(workspace, request), *line, kind=ApprovalRefused)
    assert "the tables of the branch do not match the present code" in said


def test_with_records_that_do_not_hold(shop):
    sign(shop)
    table = shop.table("report", "b1")
    (file,) = table.snapshot().files
    table.place_of(file).local.write_bytes(b"something else")

    assert "the records of branch `b1` fail verification" in refused_promotion(shop)


def test_a_branch_that_has_nothing_new(shop):
    sign(shop)
    promote(workspace_of(shop), PromoteRequest("b1"))

    assert "has nothing to promote" in refused_promotion(shop)


def test_a_branch_of_a_branch(shop, workspace):
    shop.do("branch", "create", "b2", "--from", "b1")
    request = PromoteRequest("b2")

    said = refused(shop, lambda: promote(workspace, request), "branch", "promote", "b2")
    assert "was made from branch `b1`, not from production" in said


def test_a_passphrase_is_not_asked_for_from_python(shop, tmp_path):
    key = tmp_path / "locked"
    for suffix in ("", ".pub"):
        shutil.copy(shop.root / f"{KEY}{suffix}", f"{key}{suffix}")
    subprocess.run(["ssh-keygen", "-q", "-p", "-P", "", "-N", "secret", "-f", key], check=True)
    environment = {**os.environ, "SSH_ASKPASS": "/bin/true", "DISPLAY": ":0", "SSH_AUTH_SOCK": ""}
    branch = rocky.open(shop.root, env=environment).branch("b1")

    with pytest.raises(ApprovalRefused, match="has a passphrase, and there is no terminal to ask"):
        branch.approve(key=str(key), principal="bob@example.com")
    assert not (shop.root / ".rocky/approvals/b1").exists()


def test_a_key_for_nothing_to_sign(shop, workspace):
    with pytest.raises(InvalidRequest, match="need `--allow-breaking`"):
        promote(workspace, PromoteRequest("b1", key=KEY))
    answer = shop.rocky(*PROMOTE, "--key", KEY)
    assert (1, True) == (answer.code, "usage: rocky branch promote" in answer.err)


# ---------------------------------------------------------------- between the gate and the move


def meddle(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Do something when the gate has been passed and nothing has been moved."""
    move = promotion.promote_tables

    def meddled(*given):
        act()
        return move(*given)

    monkeypatch.setattr(promotion, "promote_tables", meddled)


def test_an_approval_that_is_withdrawn_at_the_last_moment_does_not_count(
    shop, workspace, monkeypatch
):
    sign(shop)
    folder = shop.root / ".rocky/approvals/b1"
    meddle(monkeypatch, lambda: [each.unlink() for each in folder.iterdir()])

    with pytest.raises(PromotionRefused, match="and nobody did"):
        promote(workspace, PromoteRequest("b1"))
    assert () == load_promotions(shop.state())


def test_a_branch_that_is_made_anew_at_the_last_moment_is_not_promoted(
    shop, workspace, monkeypatch
):
    sign(shop)
    meddle(monkeypatch, lambda: shop.do("branch", "rebase", "b1"))

    with pytest.raises(PromotionRefused, match="has just been deleted or made again"):
        promote(workspace, PromoteRequest("b1"))


def test_a_clearance_is_for_one_production_only(shop, workspace, monkeypatch, tmp_path):
    sign(shop)
    other = BranchShop(tmp_path)
    given: list[tuple] = []

    def keep(*these: object) -> None:
        given.append(these)
        raise PromotionRefused("kept for later")

    with monkeypatch.context() as patch:
        patch.setattr(promotion, "promote_tables", keep)
        with pytest.raises(PromotionRefused, match="kept for later"):
            promote(workspace, PromoteRequest("b1"))
    ((_, cleared, actor),) = given
    enter_shop(tmp_path, monkeypatch)
    other.create()
    other.do("run")
    project = rocky.load_project(tmp_path)
    place = workspace_of(other)

    with (
        promotion.open_production(place, project, "default") as opened,
        pytest.raises(PromotionRefused, match="was made from the tables in"),
    ):
        promotion.promote_tables(opened, cleared, actor)
    assert 0 == other.table("report").snapshot().version


def test_nobody_else_can_make_or_change_a_clearance(shop, workspace, monkeypatch):
    sign(shop)
    given: list[PromotionClearance] = []
    move = promotion.promote_tables
    monkeypatch.setattr(
        promotion, "promote_tables", lambda *these: given.append(these[1]) or move(*these)
    )
    promote(workspace, PromoteRequest("b1"))
    (cleared,) = given

    said = "only `promote`, `revert` and `recover` of `rocky.operations.branch` may move production"
    with pytest.raises(PromotionRefused, match=said):
        replace(cleared, verdict=replace(cleared.verdict, impact="none"))
    with pytest.raises(PromotionRefused, match=said):
        Clearance(what="mine")
    with pytest.raises(PromotionRefused, match=said):
        RevertClearance(what="mine", promotion=None, reversals=(), left={}, seal=object())


def test_the_gate_looks_up_what_it_decides_by(shop, workspace):
    asked = ["workspace", "name", "now", "find_signer"]
    assert asked == list(signature(clear_promotion).parameters)
    now = datetime.now(UTC)
    with pytest.raises(PromotionRefused, match="and nobody did"):
        clear_promotion(workspace, "b1", now)
    sign(shop)
    assert "branch promote b1" == clear_promotion(workspace.on_branch("b2"), "b1", now).what


def test_who_allows_breaking_readers_is_not_believed(shop, workspace, tmp_path):
    build(shop, BREAKING)
    sign(shop)
    eve = tmp_path / "eve"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", eve], check=True)

    def invent(candidate: Candidate) -> Signer:
        (bob,) = check_approvals(candidate.root, candidate.question, Keygen(os.environ)).accepted
        key = SigningKey(KeyLocation(eve), bob.key_fingerprint)
        return Signer(key, bob.approver, "as good as signed")

    with pytest.raises(ApprovalRefused, match="it would not count: unknown_key"):
        clear_promotion(workspace, "b1", datetime.now(UTC), invent)


def stop_before_commits(workspace: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Promote the branch, and die when all is written down and nothing has moved."""
    move = promotion.promote_tables

    def die(step: str) -> None:
        if step == "commits":
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(promotion, "promote_tables", lambda *these: move(*these, watch=die))
        with pytest.raises(KeyboardInterrupt):
            promote(workspace, PromoteRequest("b1"))


def prepare_other(opened: RunSession, work: PromotionRun, target: str) -> PreparedMove:
    """A move of a table that nobody has let through: it would get the rows of another."""
    here = {each.name: each for each in opened.resources.warehouse.tables()}
    table, source = here[f"{TABLE}{target}"], here[f"{TABLE}stg_orders"]
    move = Move(table, table.snapshot(), source.snapshot(), source, {}, work.authority)
    return prepare_moves([move], PreparedStamp(0, work.run_id))[0]


def journal_of(run_id: str, ledger_id: str, move: PreparedMove) -> Journal:
    table, commit = move.move.table, move.commit
    said = JournalledTable(table.name, table.prefix, commit.version, commit.data.decode())
    return Journal(run_id, ledger_id, {}, (said,))


@pytest.mark.parametrize("target", ["by_country", "report"])
def test_a_clearance_moves_no_other_table_and_gives_no_other_content(
    shop, workspace, monkeypatch, target
):
    sign(shop)
    before = shop.contents()

    def move_other(opened, cleared, actor):
        table = opened.resources.warehouse.table(Target("spark_catalog", "default", target))
        with open_promotion_run(opened, cleared, [table], actor.at) as work:
            move = prepare_other(opened, work, target)
            journal = journal_of(work.run_id, opened.resources.ledger.ledger_id, move)
            commit_moves(work, journal, [(move.move.table, move.commit)])

    monkeypatch.setattr(promotion, "promote_tables", move_other)
    said = f"`branch promote b1` gives no leave to move `{TABLE}{target}` so"
    with pytest.raises(PromotionRefused, match=said):
        promote(workspace, PromoteRequest("b1"))
    assert before == shop.contents()


def test_a_journal_that_was_cleared_moves_nothing_but_what_it_says(shop, workspace, monkeypatch):
    sign(shop)
    stop_before_commits(workspace, monkeypatch)
    before = shop.contents()
    with open_production(workspace, load_workspace(workspace), "default") as opened:
        (journal,) = load_journals(opened.resources.warehouse)
        cleared, now = clear_recovery(opened, journal), datetime.now(UTC)

        def finish(forge: Callable[[PreparedMove], Journal]) -> None:
            table = opened.resources.warehouse.table(
                Target("spark_catalog", "default", "by_country")
            )
            with open_promotion_run(opened, cleared, [table], now) as work:
                move = prepare_other(opened, work, "by_country")
                commit_moves(work, forge(move), [(move.move.table, move.commit)])

        with pytest.raises(PromotionRefused, match=f"to move `{TABLE}by_country` so"):
            finish(lambda _move: journal)
        with pytest.raises(PromotionRefused, match=f"gives no leave for `{journal.run_id}`"):
            finish(lambda move: journal_of(journal.run_id, journal.ledger_id, move))
    assert before == shop.contents()


MOVERS = {
    "SEAL": {"operations/branch/gate.py"},
    "clear_promotion": {"operations/branch/gate.py", "operations/branch/promotion.py"},
    "promote_tables": {"operations/branch/promotion.py"},
    "revert_tables": {"operations/branch/promotion.py"},
    "recover_promotions": {"operations/branch/promotion.py"},
    "forget_promotion": {"operations/branch/promotion.py"},
    "clear_revert": set(),
    "clear_recovery": set(),
    "open_promotion_run": set(),
    "move_tables": set(),
    "commit_moves": set(),
    "journal_moves": set(),
    "undo_moves": set(),
}


def test_only_operations_reach_what_moves_production():
    found: dict[str, set[str]] = {name: set() for name in MOVERS}
    for path in MODULES:
        inside = path.relative_to(PACKAGE).as_posix()
        if not inside.startswith("branches/promotion/"):
            for name in load_source(path).names & set(MOVERS):
                found[name].add(inside)

    assert found == MOVERS


# ---------------------------------------------------------------- going back, and giving up


@pytest.fixture
def promoted(shop, workspace) -> str:
    """The id of a promotion of the branch."""
    sign(shop)
    return promote(workspace, PromoteRequest("b1")).promotion.run_id


def test_going_back_over_what_was_made_since(shop, workspace, promoted):
    shop.write(report=f"{MORE} WHERE n > 1")
    shop.do("run", "--model", "report")
    request = RevertRequest("b1")

    said = refused(shop, lambda: revert(workspace, request), "branch", "revert", "b1")
    assert f"production has changed since `{promoted}`" in said
    done = revert(workspace, replace(request, discard_later=True, message="all of it")).promotion
    assert ("revert", promoted, "all of it") == (done.kind, done.reverts, done.reason)


def test_going_back_twice(shop, workspace, promoted):
    revert(workspace, RevertRequest(promoted))
    request = RevertRequest(promoted)

    said = refused(shop, lambda: revert(workspace, request), "branch", "revert", promoted)
    assert f"`{promoted}` was reverted already" in said


def test_giving_up_what_can_be_finished(shop, workspace, monkeypatch):
    sign(shop)
    stop_before_commits(workspace, monkeypatch)
    (journal,) = load_journals(shop.warehouse())
    request = RecoverRequest(forget=journal.run_id)

    line = ("branch", "recover", "--forget", journal.run_id)
    said = refused(shop, lambda: recover(workspace, request), *line, kind=PromotionUnfinished)
    assert "can be finished" in said
    assert ["finished"] == [each.outcome for each in recover(workspace, RecoverRequest()).recovered]


def test_a_journal_that_nobody_wrote_down_is_not_recovered(shop, workspace):
    with open_production(workspace, load_workspace(workspace), "default") as opened:
        forged = Journal("run-x", opened.resources.ledger.ledger_id, {}, ())

        with pytest.raises(PromotionRefused, match="no such journal"):
            clear_recovery(opened, forged)


@pytest.mark.parametrize("change", ["approver", "signature", "run"])
def test_a_journal_that_no_promotion_of_this_ledger_has_signed_moves_nothing(
    shop, workspace, monkeypatch, change
):
    """Somebody who can only write the warehouse plants a journal with an approver of their own."""
    sign(shop)
    stop_before_commits(workspace, monkeypatch)
    (path,) = shop.root.glob("warehouse/_rocky/promotions/*.json")
    planted = json.loads(path.read_text())
    if change == "approver":
        planted["record"]["approvals"][0]["approver"] = "mallory@example.com"
    elif change == "signature":
        planted["signature"] = ""
    else:
        path.unlink()
        planted["run_id"] = planted["record"]["run_id"] = "run-20990101-000000-000"
        path = path.with_name(f"{planted['run_id']}.json")
    path.write_text(json.dumps(planted))
    before = shop.contents()

    said = refused(shop, lambda: recover(workspace, RecoverRequest()), "branch", "recover")
    assert "is foreign: no promotion of this ledger has signed it" in said
    assert before == shop.contents()
    assert () == load_promotions(shop.root / ".rocky-state.db")
    found = rocky.open(shop.root).verify().findings
    assert ["foreign_journal"] == [each.code for each in found if "journal" in each.code]
    assert not any(
        recover(workspace, RecoverRequest(forget=planted["run_id"])).tables_moved.values()
    )
    assert [] == [each.code for each in rocky.open(shop.root).verify().findings]


def test_an_approval_that_its_signer_has_not_signed_is_found(shop, workspace):
    """Somebody who can write the ledger puts another statement under a promotion."""
    sign(shop)
    promote(workspace, PromoteRequest("b1"))
    assert [] == shop.findings()

    with sqlite3.connect(shop.state()) as connection:
        ((value,),) = connection.execute("SELECT value FROM promotions").fetchall()
        changed = value.replace("bob@example.com", "eve@example.com")
        connection.execute("UPDATE promotions SET value = ?", (changed,))
    connection.close()

    found = shop.findings()
    assert [] != [each for each in found if each.startswith("approval_unsigned")]
    assert [] != [each for each in found if each.startswith("script: approval_unsigned")]


@pytest.mark.parametrize("name", ["", "eve@example.com"])
def test_an_approval_in_a_name_that_its_signer_does_not_have_is_found(shop, workspace, name):
    """The signature is genuine; that it is somebody else's, or nobody's, is not."""
    sign(shop)
    promote(workspace, PromoteRequest("b1"))
    with sqlite3.connect(shop.state()) as connection:
        ((value,),) = connection.execute("SELECT value FROM promotions").fetchall()
        document = json.loads(value)
        document["approvals"][0]["approver"] = name
        connection.execute("UPDATE promotions SET value = ?", (json.dumps(document),))
    connection.close()

    found = shop.findings()
    assert [] != [each for each in found if each.startswith("approval_unsigned")]
    assert [] != [each for each in found if each.startswith("script: approval_unsigned")]


def test_a_recovery_checks_the_signatures_of_approvals_again(shop, workspace, monkeypatch):
    """Also when the journal itself is believed."""
    sign(shop)
    stop_before_commits(workspace, monkeypatch)
    (path,) = shop.root.glob("warehouse/_rocky/promotions/*.json")
    planted = json.loads(path.read_text())
    approval = planted["record"]["approvals"][0]
    approval["statement"] = approval["statement"].replace("b1", "b2")
    path.write_text(json.dumps(planted))
    monkeypatch.setattr(clearance, "is_own_journal", lambda *_: True)

    said = refused(shop, lambda: recover(workspace, RecoverRequest()), "branch", "recover")
    assert "by `bob@example.com` in the journal of" in said
    assert "is not signed by them" in said
