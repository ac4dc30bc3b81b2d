"""Progress in a notebook, at a prompt of IPython, and where nobody looks: the run is the same."""

import logging
import re
import sys
import types
from typing import Any

import pytest

import rocky
from rocky.errors import NothingSelected
from tests.operations.shops import OpenShop


class Publisher:
    """Keeps what is shown, as `display_pub` of IPython's shell is given it."""

    def __init__(self) -> None:
        self.shown: list[tuple[dict[str, str], dict[str, str], bool]] = []

    def publish(
        self,
        data: dict[str, str],
        metadata: Any = None,
        *,
        transient: dict[str, str] | None = None,
        update: bool = False,
    ) -> None:
        self.shown.append((data, transient or {}, update))


class Shell:
    """With a `kernel` it is a notebook's, without one a terminal's."""

    def __init__(self, *, kernel: bool) -> None:
        self.display_pub = Publisher()
        if kernel:
            self.kernel = object()


@pytest.fixture
def shop(tmp_path, monkeypatch) -> OpenShop:
    return OpenShop(tmp_path, monkeypatch)


def use(monkeypatch, shell: Shell) -> list[tuple[dict[str, str], dict[str, str], bool]]:
    module = types.ModuleType("IPython")
    module.get_ipython = lambda: shell
    monkeypatch.setitem(sys.modules, "IPython", module)
    return shell.display_pub.shown


@pytest.mark.slow
def test_a_notebook_has_one_place_that_is_drawn_over(shop, monkeypatch):
    shown = use(monkeypatch, Shell(kernel=True))
    report = rocky.open(shop.root).run()

    assert {transient["display_id"] for _, transient, _ in shown} == {shown[0][1]["display_id"]}, (
        "one place"
    )
    assert [False, *[True] * (len(shown) - 1)] == [update for *_, update in shown]
    first, last = shown[0][0], shown[-1][0]
    assert first["text/plain"].startswith("run: at work")
    assert re.match(r"run ended after [\d.]+ s, .*\d built", last["text/plain"])
    assert report.run.run_id in last["text/html"]
    assert "<progress" not in last["text/html"]


def test_a_run_that_is_refused_leaves_no_place_that_seems_to_work(shop, monkeypatch):
    shown = use(monkeypatch, Shell(kernel=True))
    with pytest.raises(NothingSelected):
        rocky.open(shop.root).run("nothing_of_that_name")

    assert shown[-1][0]["text/plain"].startswith("run stopped after ")


def test_what_failed_is_named_and_is_text(shop, monkeypatch):
    def fail(name: str) -> None:
        if name.endswith("stg_orders"):
            raise OSError("<script>alert(1)</script>")

    shop.before_write = fail
    shown = use(monkeypatch, Shell(kernel=True))
    report = rocky.open(shop.root).run()

    assert 0 != report.exit_code
    html = shown[-1][0]["text/html"]
    assert "<div>failed  stg_orders  " in html
    assert "&lt;script&gt;" in html
    assert "<script>" not in html
    assert "held back" in html


@pytest.mark.slow
def test_a_terminal_of_ipython_has_lines(shop, monkeypatch):
    shown = use(monkeypatch, Shell(kernel=False))
    report = rocky.open(shop.root).run()
    lines = [data["text/plain"] for data, *_ in shown]

    assert f"{report.run.run_id}: " in lines[0]
    assert any(re.fullmatch(r"\d/\d  built  stg_orders  [\d.]+ s  3 rows", each) for each in lines)


@pytest.mark.slow
def test_elsewhere_the_lines_are_those_of_the_logger(shop, caplog, capsys):
    with caplog.at_level(logging.INFO, logger="rocky"):
        rocky.open(shop.root).run()

    assert any("built  stg_orders" in each for each in caplog.messages)
    assert ("", "") == capsys.readouterr()


@pytest.mark.slow
def test_who_listens_or_wants_none_is_shown_nothing(shop, monkeypatch):
    shown = use(monkeypatch, Shell(kernel=True))
    rocky.open(shop.root, progress=False).run()
    rocky.open(shop.root, listener=shop.heard).run()

    assert [] == shown


@pytest.mark.slow
def test_a_page_that_is_closed_does_not_stop_a_run(shop, monkeypatch):
    shell = Shell(kernel=True)
    use(monkeypatch, shell)

    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    shell.display_pub.publish = closed
    assert 0 == rocky.open(shop.root).run().exit_code
