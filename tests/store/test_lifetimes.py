from dataclasses import replace

import pytest

from rocky.errors import StoreUnreadable
from rocky.store.file_usage import Lifetime, read_lifetimes
from tests.store.tables import (
    append,
    commit,
    ids,
    latest,
    log_file,
    reopened,
    replace_with,
    table_in,
)


def spans(table, *files):
    found = read_lifetimes(reopened(table).log).of_file
    return [[(each.first, each.end) for each in found[file.path]] for file in files]


def test_a_file_lives_from_the_version_that_adds_it_to_the_one_that_removes_it(tmp_path):
    table = table_in(tmp_path)
    one, two, three = (ids(table, number) for number in range(3))
    replace_with(table, one, info={"runId": "run-1", "ledgerId": "me"})
    append(table, two)
    replace_with(table, three)
    commit(table, "MERGE", one, removes=frozenset({three.path}))
    found = read_lifetimes(table.log)

    assert [[(0, 2), (3, None)], [(1, 2)], [(2, 3)]] == spans(table, one, two, three)
    assert {one.path} == found.live == {file.path for file in latest(table).files}
    first = found.commits[0]
    assert (0, "run-1", "me") == (first.version, first.run_id, first.ledger_id)
    assert str(first.engine).startswith("rocky/")
    assert 3 == found.latest


def test_the_end_is_when_the_commit_says_or_when_it_was_written_the_later(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    replace_with(table, file)
    replace_with(table, ids(table, 2))
    (span,) = read_lifetimes(table.log).of_file[file.path]
    written = table.objects.info(table.log.commit_path(1))

    assert span.ended_ms == max(latest(table).timestamp_ms, written.modified_ms)


def test_a_file_that_one_commit_removes_and_adds_has_not_left(tmp_path):
    table = table_in(tmp_path)
    file = ids(table, 1)
    replace_with(table, file)
    replace_with(table, file)
    adding = log_file(table, f"{0:020d}.json").read_text().splitlines()
    line = next(each for each in adding if '"add"' in each)
    removing = line.replace('"add"', '"remove"')
    path = log_file(table, f"{1:020d}.json")
    path.write_text(f"{path.read_text()}{line}\n{removing}\n")

    assert [[(0, None)]] == spans(table, file)


def test_a_checkpoint_changes_nothing(tmp_path):
    table = table_in(tmp_path)
    files = [ids(table, number) for number in range(13)]
    for file in files:
        replace_with(table, file)

    assert [*([(number, number + 1)] for number in range(12)), [(12, None)]] == spans(table, *files)


def test_no_table_has_no_lifetimes(tmp_path):
    assert read_lifetimes(table_in(tmp_path).log).latest is None


def test_a_log_without_its_first_commits_is_refused(tmp_path):
    table = table_in(tmp_path)
    for number in range(12):
        replace_with(table, ids(table, number))
    log_file(table, f"{0:020d}.json").unlink()

    with pytest.raises(StoreUnreadable, match="missing from the log"):
        read_lifetimes(reopened(table).log)


def test_a_checkpoint_that_says_otherwise_than_the_commits_is_refused(tmp_path):
    table = table_in(tmp_path)
    for number in range(12):
        replace_with(table, ids(table, number))
    for version in (0, 10):
        path = log_file(table, f"{version:020d}.json")
        lines = [each for each in path.read_text().splitlines() if '"remove"' not in each]
        path.write_text("".join(f"{line}\n" for line in lines))

    vouched = replace(reopened(table).log, vouch=lambda *_: True)
    with pytest.raises(StoreUnreadable, match="its commits and its checkpoint differ"):
        read_lifetimes(vouched)


@pytest.mark.parametrize(
    "line", ['{"add":{}}', '{"add":{"path":"s3://elsewhere/a.parquet"}}', '{"remove":7}', "[]"]
)
def test_an_action_that_makes_no_sense_is_refused(tmp_path, line):
    table = table_in(tmp_path)
    replace_with(table, ids(table, 1))
    path = log_file(table, f"{0:020d}.json")
    path.write_text(f"{path.read_text()}{line}\n")

    with pytest.raises(StoreUnreadable):
        read_lifetimes(reopened(table).log)


def test_a_lifetime_covers_its_first_version_and_not_its_end():
    assert [False, True, True, False] == [Lifetime(1, 3).covers(version) for version in range(4)]
    assert Lifetime(1).covers(99)
