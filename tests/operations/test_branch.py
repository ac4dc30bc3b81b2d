"""A branch from Python: made, looked at, compared, promoted, taken back and deleted, each reported."""

import os

import pytest

from rocky.branches.row_diff import ValueChange
from rocky.errors import NothingSelected
from rocky.ledger import open_history_reader
from rocky.ledger.branch_records import BranchStatus
from rocky.operations.branch.diff import DiffRequest, diff
from rocky.operations.branch.lifecycle import (
    CreateRequest,
    DeleteRequest,
    RebaseRequest,
    create,
    delete,
    rebase,
)
from rocky.operations.branch.promotion import (
    PromoteRequest,
    RecoverRequest,
    RecoveryReport,
    RevertRequest,
    promote,
    recover,
    revert,
)
from rocky.operations.branch.show import ListRequest, ShowRequest, list_branches, show
from rocky.operations.workspace import Workspace
from tests.branches.shops import TABLE, BranchShop, Template

OTHERS = "SELECT id, CASE WHEN id = 1 THEN 'PL' ELSE country END AS country FROM stg_orders"


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Template:
    return Template(tmp_path_factory.mktemp("operations"), lambda shop: shop.do("run"))


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


@pytest.fixture
def workspace(shop) -> Workspace:
    return Workspace(shop.root, environment=dict(os.environ))


@pytest.mark.slow
def test_the_life_of_a_branch(shop, workspace):
    made = create(workspace, CreateRequest("b1", description="more")).branch
    assert ("b1", "ann@example.com", "more") == (made.name, made.created_by, made.description)
    assert {"same"} == {each.status for each in show(workspace, ShowRequest("b1")).tables}

    shop.write(latest=OTHERS)
    shop.do("run", "--branch", "b1")
    assert [(f"{TABLE}latest", "changed")] == [
        (each.target, each.status)
        for each in show(workspace, ShowRequest("B1")).tables
        if each.status != "same"
    ]
    (found,) = diff(workspace, DiffRequest("b1", ("latest",))).tables
    assert (0, 0, 1) == (found.added, found.removed, found.changed)
    assert {"country": ValueChange("DE", "PL")} == found.sample[0].columns

    promoted = promote(workspace, PromoteRequest("b1", message="as agreed"))
    assert ((), True) == (promoted.approvals_rejected, promoted.success)
    assert [f"{TABLE}latest"] == [each.target for each in promoted.promotion.tables]
    reverted = revert(workspace, RevertRequest("b1")).promotion
    listed = list_branches(workspace, ListRequest(promotions=True))
    assert (promoted.promotion, reverted) == listed.promotions
    assert RecoveryReport(()) == recover(workspace, RecoverRequest())

    anew = rebase(workspace, RebaseRequest("b1")).branch
    assert (made.created_by, made.description) == (anew.created_by, anew.description)
    gone = delete(workspace, DeleteRequest("b1"))
    assert ("b1", ()) == (gone.branch.name, gone.warnings)
    assert gone.objects_removed > 0
    assert 0 == list_branches(workspace, ListRequest()).total
    (kept,) = list_branches(workspace, ListRequest(everything=True)).branches
    assert BranchStatus.DELETED is kept.status
    assert [] == shop.findings()


def test_what_is_recorded_says_that_it_was_python(shop, workspace):
    create(workspace, CreateRequest("b1"))

    with open_history_reader(shop.state("b1")) as reader:
        (run,) = reader.runs()
    assert "api" == run.session_source


def test_a_branch_that_is_not_there_is_refused(workspace):
    create(workspace, CreateRequest("b1"))

    with pytest.raises(NothingSelected, match="did you mean `b1`"):
        show(workspace, ShowRequest("b11"))
