"""What the command line refuses by its options, the operations refuse themselves."""

from datetime import datetime

import pytest

import rocky
from rocky.errors import InvalidRequest


@pytest.mark.parametrize(
    "ask",
    [
        lambda shop: shop.history(limit=0),
        lambda shop: shop.history(since=datetime(2026, 1, 1)),  # noqa: DTZ001 - that is the mistake
        lambda shop: shop.trace(limit=0),
        lambda shop: shop.show("stg_orders", limit=-1),
        lambda shop: shop.branch("b").diff(sample=-1),
    ],
)
def test_a_number_or_time_that_means_nothing_is_refused_from_python(tmp_path, ask):
    rocky.create_playground(tmp_path / "shop")

    with pytest.raises(InvalidRequest):
        ask(rocky.open(tmp_path / "shop", env={}))
