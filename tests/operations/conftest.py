"""What the tests of operations share."""

import pytest

from tests.operations.shops import OpenShop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    """A shop that is opened from Python."""
    return OpenShop(tmp_path, monkeypatch)
