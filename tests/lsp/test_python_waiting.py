"""Whoever types into a Python model does not wait for its plan: the last one answers."""

import pytest

from rocky.lsp.positions import TextPositions
from tests.ide.projects import write
from tests.lsp.client import Client
from tests.lsp.python_shop import SHOP

PATH = "models/slow.py"
SLOW = """import time


def model(orders):
    time.sleep(1)
    return orders.select("id", "amuont")
"""
pytestmark = pytest.mark.slow


def test_completion_and_hover_are_answered_while_the_plan_of_the_text_is_built(tmp_path):
    root = write(tmp_path, {**SHOP, PATH: SLOW})
    with Client(root) as client:
        client.start(trusted=True)
        uri = client.open(PATH)
        client.settled()
        edited = SLOW.replace("def model", "# more\ndef model").replace('"id", ', '"id", "')
        version = client.change(uri, {"text": edited})
        where = TextPositions(edited).position(edited.index('"id", "') + len('"id", "'))
        params = {"textDocument": {"uri": uri}, "position": where}

        items = client.ask("textDocument/completion", params)["items"]
        mended = edited.replace('"id", "', '"id", ')
        client.change(uri, {"text": mended})
        over = TextPositions(mended).position(mended.index("id"))
        said = client.ask("textDocument/hover", params | {"position": over})["contents"]["value"]
        heard = [each["params"].get("version") for each in client.heard if "params" in each]

        assert {"id", "customer_id", "amount", "status"} == {each["label"] for each in items}
        assert "id bigint NOT NULL" in said
        assert version + 1 not in heard
        assert ["E003"] == [each["code"] for each in client.published(uri, version + 1)]
        assert 0 == client.stop()
