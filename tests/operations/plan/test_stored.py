"""Plans in files: one file a plan, whole or not at all, and nothing is believed that was edited."""

import json
import stat
from datetime import UTC, datetime
from pathlib import Path

import pytest

from rocky.errors import PlanUnreadable
from rocky.plan.kept_plan import (
    RUN_KIND,
    KeptPlan,
    load_plan,
    plan_id_of,
    plan_path,
    read_plan,
    save_plan,
)

AT = datetime(2026, 1, 31, 12, 0, 0, tzinfo=UTC)


def plan(number: int = 1, at: datetime = AT) -> KeptPlan:
    return KeptPlan(RUN_KIND, {"runs": [], "number": number}, at, "somebody", {"runs": []})


def test_a_plan_comes_back_as_it_was_kept(tmp_path: Path):
    kept = save_plan(tmp_path, plan())

    assert plan() == kept == load_plan(tmp_path, kept.plan_id)


def test_when_and_by_whom_a_plan_was_made_is_not_in_its_id():
    other = KeptPlan(RUN_KIND, plan().payload, datetime(2027, 1, 1, tzinfo=UTC), "somebody else")

    assert plan().plan_id == other.plan_id
    assert plan(2).plan_id != plan().plan_id


def test_a_plan_that_is_made_again_stays_as_it_was_first_made(tmp_path: Path):
    save_plan(tmp_path, plan())

    again = save_plan(tmp_path, plan(at=datetime(2027, 1, 1, tzinfo=UTC)))

    assert AT == again.created_at == load_plan(tmp_path, again.plan_id).created_at


def test_a_file_that_was_damaged_is_written_anew_by_the_same_plan(tmp_path: Path):
    kept = save_plan(tmp_path, plan())
    plan_path(tmp_path, kept.plan_id).write_text("{}")

    save_plan(tmp_path, plan())

    assert plan() == load_plan(tmp_path, kept.plan_id)


def test_nothing_is_left_beside_a_plan_and_others_may_read_it(tmp_path: Path):
    kept = save_plan(tmp_path, plan())
    path = plan_path(tmp_path, kept.plan_id)

    assert [path] == list(path.parent.iterdir())
    assert "rw-r--r--" == stat.filemode(path.stat().st_mode)[1:]


def test_a_gitignore_that_is_there_stays_as_it_is(tmp_path: Path):
    (tmp_path / ".rocky").mkdir()
    (tmp_path / ".rocky/.gitignore").write_text("mine\n")

    save_plan(tmp_path, plan())

    assert "mine\n" == (tmp_path / ".rocky/.gitignore").read_text()


def test_digits_that_begin_several_ids_are_too_few(tmp_path: Path):
    folder = tmp_path / ".rocky/plans"
    folder.mkdir(parents=True)
    for end in "ab":
        (folder / f"{'0' * 63}{end}.json").write_text("{}")

    with pytest.raises(PlanUnreadable, match="matches 2 plans: give more digits"):
        load_plan(tmp_path, "0" * 8)


@pytest.mark.parametrize("key", ["kind", "payload", "plan_id", "created_at"])
def test_a_plan_that_lacks_something_is_none(tmp_path: Path, key: str):
    kept = save_plan(tmp_path, plan())
    path = plan_path(tmp_path, kept.plan_id)
    document = json.loads(path.read_text())
    del document[key]
    path.write_text(json.dumps(document))

    with pytest.raises(PlanUnreadable, match="is not a complete plan"):
        load_plan(tmp_path, str(path))


def test_a_name_that_is_not_utf8_keeps_its_id(tmp_path: Path):
    odd = KeptPlan(RUN_KIND, {"name": "a\udcff"}, AT)

    assert odd.plan_id == load_plan(tmp_path, save_plan(tmp_path, odd).plan_id).plan_id


def test_the_kind_is_part_of_the_id():
    assert plan_id_of("run", {}) != plan_id_of("other", {})


@pytest.mark.parametrize("text", ["[" * 100_000, '{"version": 1, "payload": ' + '{"a":' * 100_000])
def test_a_file_that_is_nested_too_deep_is_no_plan(tmp_path, text):
    path = tmp_path / "plan.json"
    path.write_text(text)

    with pytest.raises(PlanUnreadable, match="it is nested too deep"):
        read_plan(path)


@pytest.mark.parametrize("part", [".rocky", ".rocky/plans", ".rocky/.gitignore"])
def test_a_plan_is_not_written_through_a_link(tmp_path, part):
    root, outside = tmp_path / "project", tmp_path / "outside"
    for folder in (outside, (root / part).parent):
        folder.mkdir(parents=True)
    target = outside / "new" if part.endswith("ignore") else outside
    (root / part).symlink_to(target)

    with pytest.raises(OSError, match="is a symbolic link"):
        save_plan(root, plan())
    assert [] == list(outside.rglob("*"))
