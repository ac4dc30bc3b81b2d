"""Real processes: killed in the middle, and several at once."""

import signal

import pytest

from rocky.errors import LedgerLocked
from rocky.ledger import open_history_reader, open_ledger
from rocky.ledger.claims import is_alive
from rocky.ledger.run_records import RunStatus
from tests.ledger.chains import faults
from tests.ledger.conftest import a_run
from tests.processes import Running, run_program

# Records models until it is killed; says each one that is recorded.
ENDLESS = """
from itertools import count
ledger = open_ledger(path)
run_id = ledger.begin_run(a_run(), ["m.s.t"])
print(run_id, flush=True)
for number in count():
    name = f"model_{number}"
    artifacts = [
        ArtifactRecord(f"{name}_{i}", run_id, name, f"{i}.parquet", 1, 1, START) for i in range(3)
    ]
    ledger.record_models(run_id, [ModelRecords(a_model(name), artifacts)])
    print(name, flush=True)
"""

# Begins and ends runs, all wanting the same millisecond.
BUSY = """
for number in range(5):
    with open_ledger(path) as ledger:
        run_id = ledger.begin_run(a_run(), [f"m.s.t_{os.getpid()}"])
        for each in range(4):
            model = a_model(f"m_{os.getpid()}_{number}_{each}")
            ledger.record_models(run_id, [ModelRecords(model)])
        ledger.finish_run(run_id, RunStatus.SUCCESS, START)
"""

PRELUDE = """
import os, sys
from pathlib import Path
from rocky.ledger import ModelRecords, open_ledger
from rocky.ledger.run_records import ArtifactRecord, RunStatus
from tests.ledger.conftest import START, a_model, a_run
path = Path(sys.argv[1])
"""


def start(program, path):
    return Running(run_program, PRELUDE + program, str(path))


def said(process, count):
    return [process.stdout.readline().strip() for _ in range(count)]


@pytest.mark.parametrize("after", [1, 7])
@pytest.mark.slow
def test_a_killed_run_keeps_what_it_had_recorded_and_is_seen_to_have_died(path, after):
    with start(ENDLESS, path) as process:
        run_id, *names = said(process, 1 + after)
        alive = is_alive(path, run_id)
        process.send_signal(signal.SIGKILL)
        names += process.stdout.read().split()
    with open_history_reader(path) as reader:
        run = reader.run("latest")
        files = {
            each.model_name: len(reader.artifacts(run_id, each.model_name))
            for each in run.models_executed
        }

    assert alive
    assert run.died
    assert RunStatus.FAILURE is run.status
    # What was said is recorded; the kill may have come between the record and the word.
    assert set(names) <= set(files)
    assert len(files) - len(names) in (0, 1)
    assert {3} == set(files.values())
    assert [] == faults(path)


def test_four_processes_that_make_a_ledger_at_once_give_it_one_name(path):
    program = "print(open_ledger(path).ledger_id)"
    processes = [start(program, path) for _ in range(4)]
    names = [process.communicate()[0].strip() for process in processes]
    with open_ledger(path) as ledger:
        assert {ledger.ledger_id} == set(names)
        assert 1 == ledger.head().seq


def test_the_run_after_a_killed_one_may_write_its_tables_and_records_the_death(path):
    with start(ENDLESS, path) as process:
        (run_id,) = said(process, 1)
        with open_ledger(path) as ledger:
            with pytest.raises(LedgerLocked, match=f"process {process.pid} on"):
                ledger.begin_run(a_run(), ["m.s.t"])
            process.kill()
            process.wait()
            ledger.begin_run(a_run(), ["m.s.t"])
            with ledger.reader() as reader:
                assert reader.run(run_id).died
                statuses = [each.status for each in reader.runs()]

    assert [RunStatus.RUNNING, RunStatus.FAILURE] == statuses


def test_four_processes_at_once_lose_nothing(path):
    processes = [start(BUSY, path) for _ in range(4)]
    for process in processes:
        with process:
            process.communicate()
    with open_history_reader(path) as reader:
        runs = reader.runs()

    assert [0] * 4 == [process.returncode for process in processes]
    assert 20 == len({each.run_id for each in runs})
    assert {RunStatus.SUCCESS} == {each.status for each in runs}
    assert 80 == len({model.model_name for each in runs for model in each.models_executed})
    assert {4} == {len(each.models_executed) for each in runs}
    assert [] == faults(path)
