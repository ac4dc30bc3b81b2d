"""Stand-ins for catalogues, one process a kind for all tests of a module."""

import pytest

from tests.servers.catalogues import start_catalogue

TABLES = [
    ["catalog", "shop"],
    ["schema", "shop.marts"],
    ["table", "shop.marts.orders"],
    ["table", "shop.marts.customers"],
]


@pytest.fixture(scope="module")
def _unity():
    with start_catalogue("unity") as started:
        yield started


@pytest.fixture(scope="module")
def _databricks():
    with start_catalogue("databricks") as started:
        yield started


@pytest.fixture(scope="module")
def _ranger():
    with start_catalogue("ranger") as started:
        yield started


@pytest.fixture
def unity(_unity):
    _unity.begin(users=["ana@shop", "bob@shop"], securables=TABLES)
    return _unity


@pytest.fixture
def databricks(_databricks):
    _databricks.begin(users=["ana@shop"], groups=["analysts"], securables=TABLES)
    return _databricks


@pytest.fixture
def ranger(_ranger):
    _ranger.begin(users=["ana", "bob"], groups=["analysts"])
    return _ranger
