"""The gate of a promotion: what production's readers would lose, whatever the code is compared to."""

import pytest

from tests.branches.shops import TABLE, BranchShop, enter_shop


@pytest.mark.slow
def test_columns_that_production_would_lose_break_readers_though_the_code_lost_them_before(
    tmp_path, monkeypatch
):
    shop = BranchShop(tmp_path)
    enter_shop(tmp_path, monkeypatch)
    shop.create()
    shop.do("run")
    shop.write(latest="SELECT id FROM stg_orders")
    shop.commit("on the main line before the branch is made")
    shop.do("branch", "create", "b1")
    shop.do("run", "--branch", "b1", "latest", "--full-refresh")

    refused = shop.rocky("branch", "promote", "b1")

    assert 1 == refused.code
    assert f"breaks readers: {TABLE}latest.country: column_removed" in refused.err
