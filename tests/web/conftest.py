"""What the tests of servers share."""

import pytest

from tests.operations.shops import OpenShop


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    """A shop whose engine needs no JVM."""
    return OpenShop(tmp_path, monkeypatch)
