"""Verifying from Python: what was checked, what does not fit, and when nothing can be said."""

import pytest

from rocky.errors import LedgerUnreadable, NothingSelected
from rocky.evidence.findings import FindingCode
from rocky.ledger import STATE_FILE
from rocky.operations.proof.verify import VerifiedScope, VerifyRequest, verify
from rocky.operations.workspace import Workspace
from tests.run.runs import Shop
from tests.table_files import data_files


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A project that has run; a state file that is there."""
    Shop(tmp_path).run()
    return Workspace(tmp_path)


@pytest.mark.slow
def test_an_untouched_project_is_verified_and_a_missing_file_found(workspace):
    clean = verify(workspace, VerifyRequest())
    (path,) = data_files(workspace.config / "warehouse/spark_catalog/default/alone")
    path.unlink()
    broken = verify(workspace, VerifyRequest("alone"))

    assert (VerifiedScope("all"), True, 5) == (clean.scope, clean.verified, clean.checked.tables)
    assert (VerifiedScope("table", "spark_catalog.default.alone"), False) == (
        broken.scope,
        broken.verified,
    )
    assert [FindingCode.FILE_MISSING] == [each.code for each in broken.findings]


@pytest.mark.slow
def test_tables_without_their_state_file_are_not_taken_for_a_new_project(workspace):
    (workspace.config / STATE_FILE).unlink()

    with pytest.raises(LedgerUnreadable, match="the tables were made under the ledger"):
        verify(workspace, VerifyRequest())


@pytest.mark.slow
def test_a_name_that_is_not_recorded_is_refused(workspace):
    with pytest.raises(NothingSelected, match="no run, model or table `alne` is recorded"):
        verify(workspace, VerifyRequest("alne"))
