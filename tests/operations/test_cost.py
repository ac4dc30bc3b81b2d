"""The cost of a run from Python: of the state file alone."""

import pytest

from rocky.errors import InvalidRequest, NothingSelected
from rocky.ledger import STATE_FILE
from rocky.operations.records.cost import CostRequest, cost
from rocky.operations.workspace import Workspace
from tests.cli.recorded import FIRST, record_past, record_reuse


@pytest.fixture
def workspace(tmp_path) -> Workspace:
    """A state file with a past, and no project."""
    record_past(tmp_path)
    record_reuse(tmp_path)
    return Workspace(state_file=tmp_path / STATE_FILE)


def test_the_cost_of_a_run_is_the_sum_of_its_models_dearest_first(workspace):
    found = cost(workspace, CostRequest(FIRST))
    prices = [each.cost_usd for each in found.per_model if each.cost_usd is not None]

    assert found.grouping is None
    assert pytest.approx(found.usage.total_cost_usd) == sum(prices)
    assert sorted(prices, reverse=True) == prices


def test_what_reuse_spared_is_what_the_build_took(workspace):
    found = cost(workspace, CostRequest())
    reused = [each for each in found.per_model if each.reused_from is not None]

    assert found.saved is not None
    assert len(reused) == found.saved.model_count
    assert all(each.saved is not None for each in reused)


@pytest.mark.parametrize(
    ("by", "refusal", "said"),
    [
        ("tags", InvalidRequest, "is `model`, `tag` or `tag:NAME`, not `tags`"),
        ("tag:nope", NothingSelected, "had a tag `nope`"),
    ],
)
def test_a_dimension_that_is_none_is_refused(workspace, by, refusal, said):
    with pytest.raises(refusal, match=said):
        cost(workspace, CostRequest(FIRST, by))
