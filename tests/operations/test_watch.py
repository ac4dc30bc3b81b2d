"""A watch: a round at once, one for each save, none for what a run writes."""

import signal
import subprocess
import sys
from dataclasses import replace
from threading import Event, Timer

import pytest

from rocky.errors import InvalidRequest
from rocky.operations.execution.saves import Saves, table_folders
from rocky.operations.execution.watch import WatchRequest, watch
from rocky.operations.workspace import load_workspace
from rocky.run import project_run
from tests.run.runs import PROJECT

LONG = 20.0
"""No round is waited for longer; a watch that sees nothing ends without one."""


@pytest.fixture
def rounds(shop):
    stop = Event()
    timer = Timer(LONG, stop.set)
    timer.start()

    def begin(**asked):
        return watch(shop.workspace, WatchRequest(**asked), stop=stop)

    yield begin
    timer.cancel()


@pytest.mark.slow
def test_a_save_is_compiled_and_an_error_in_it_ends_nothing(shop, rounds):
    found = rounds()
    first = next(found)
    shop.write("models/report.sql", "SELECT nope FROM by_country")
    broken = next(found)
    shop.write("models/report.sql", "SELECT * FROM by_country")
    mended = next(found)

    assert ((), False) == (first.changed, first.compiled.failed)
    assert (("models/report.sql",), True) == (broken.changed, broken.compiled.failed)
    assert ["E003"] == [each.code.value for each in broken.compiled.found]
    assert not mended.compiled.failed
    assert 1 == mended.compiled.summary.bound


@pytest.mark.slow
def test_settings_that_cannot_be_read_are_told_and_the_next_save_is_waited_for(shop, rounds):
    found = rounds()
    next(found)
    text = (shop.root / "rocky.toml").read_text()
    shop.write("rocky.toml", "[[[")
    broken = next(found)
    shop.write("rocky.toml", text)

    assert broken.compiled is None or broken.compiled.failed
    assert not next(found).compiled.failed


@pytest.mark.slow
def test_what_was_saved_is_built_with_its_readers_and_no_run_wakes_it(shop, rounds):
    found = rounds(run=True)
    first = next(found)
    shop.write("models/large.sql", "SELECT id, country FROM stg_orders WHERE id > 2")
    second = next(found)

    assert {"stg_orders", "large"} <= {each.model for each in first.run.run.model_decisions}
    # What the first run wrote was no save: the second round is of the file alone.
    assert ("models/large.sql",) == second.changed
    built = {each.model for each in second.run.run.model_decisions}
    assert {"large", "by_country", "report"} <= built
    assert "stg_orders" not in built


def decided(report):
    return {each.model for each in report.run.run.model_decisions}


@pytest.mark.slow
def test_what_an_error_kept_from_being_built_is_built_with_the_next_save(shop, rounds):
    found = rounds(run=True)
    next(found)
    shop.write("models/alone.sql", "SELECT nope FROM raw.orders")
    assert next(found).run is None
    shop.write("models/large.sql", "SELECT id, country FROM stg_orders WHERE id > 2")
    assert next(found).run is None
    shop.write("models/alone.sql", "SELECT 7 AS seven")

    mended = next(found)

    assert ("models/alone.sql",) == mended.changed
    # Saved while another file was broken, and never built: it would stay as it was.
    assert {"alone", "large", "by_country"} <= decided(mended)
    assert "stg_orders" not in decided(mended)


@pytest.mark.slow
def test_after_a_first_round_with_an_error_everything_is_built(shop, rounds):
    shop.write("models/alone.sql", "SELECT nope FROM raw.orders")
    found = rounds(run=True)
    assert next(found).run is None
    shop.write("models/alone.sql", "SELECT 7 AS seven")

    assert {"alone", "stg_orders", "large"} <= decided(next(found))


@pytest.mark.slow
def test_what_failed_is_built_again_with_the_next_save(shop, rounds):
    def fail(name):
        raise OSError(f"no room for {name}")

    found = rounds(run=True)
    next(found)
    shop.before_write = fail
    shop.write("models/alone.sql", "SELECT 7 AS seven")
    assert not next(found).run.succeeded
    shop.before_write = lambda _name: None
    shop.write("models/report.sql", "SELECT * FROM by_country")

    assert {"alone", "report"} == decided(next(found))


@pytest.mark.slow
def test_selectors_are_what_is_built_in_every_round(shop, rounds):
    found = rounds(run=True, select=("+large",))
    next(found)
    shop.write("models/report.sql", "SELECT * FROM by_country")

    assert {"stg_orders", "large"} == {each.model for each in next(found).run.run.model_decisions}


def test_a_new_folder_is_seen(shop, rounds):
    found = rounds()
    next(found)
    shop.write("sources/more.toml", "[[source]]\n")

    assert any("sources" in path for path in next(found).changed)


def test_a_project_may_be_named_from_where_one_is(shop, monkeypatch):
    monkeypatch.chdir(shop.root)
    stop = Event()
    timer = Timer(LONG, stop.set)
    timer.start()
    found = watch(replace(shop.workspace, config=None), WatchRequest(), stop=stop)
    next(found)
    shop.write("models/report.sql", "SELECT * FROM by_country")

    assert ("models/report.sql",) == next(found).changed
    found.close()
    timer.cancel()


def test_selectors_without_a_run_are_refused(shop):
    with pytest.raises(InvalidRequest, match="are for `--run`"):
        watch(shop.workspace, WatchRequest(select=("large",)))


@pytest.mark.slow
def test_an_interrupt_ends_it_without_a_complaint(shop):
    # A shell has its background jobs ignore an interrupt, and so would what they start.
    listen = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    call = f"from rocky.cli.app import main; main(['watch', '-c', {str(shop.root)!r}])"
    command = [sys.executable, "-c", f"{listen}; {call}"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert "no errors" in process.stdout.readline()
        assert "Ctrl-C ends it" in process.stderr.readline()
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=LONG)

    assert (0, "", "") == (process.returncode, out, err.strip())


@pytest.mark.slow
def test_an_interrupt_of_a_round_that_has_nothing_left_to_do_ends_it(shop, rounds, monkeypatch):
    next(rounds(run=True))
    run = project_run.run_unless_unchanged

    def interrupted(*given, **more):
        signal.raise_signal(signal.SIGINT)
        return run(*given, **more)

    monkeypatch.setattr(project_run, "run_unless_unchanged", interrupted)
    (only,) = rounds(run=True)

    assert only.run.succeeded


def test_the_folder_of_seals_is_not_watched(shop):
    shop.write("rocky.toml", f'{PROJECT["rocky.toml"]}[evidence]\nseal_dir = "kept/seals"\n')
    saves = Saves(shop.workspace)
    saves.tables = table_folders(load_workspace(shop.workspace))

    assert not saves.is_read(saves.root / "kept/seals/1.seal")
    assert not saves.is_read(saves.root / "warehouse/spark_catalog")
    assert saves.is_read(saves.root / "kept/notes.sql")
