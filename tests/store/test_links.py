"""Links in a warehouse: whoever may write it can put them there, and no command goes through one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rocky.errors import ChangeRefused, StoreUnreadable, StoreUnwritable
from rocky.store.branch_folder import drop_branch_folder, list_branch_folder
from rocky.store.clone import clone_table
from rocky.store.file_usage import RemovalFence, list_files, remove_files, sweep_table
from rocky.store.folder import Escape, refuse_escape, remove_file, remove_tree, walk_folder
from rocky.store.parquet.staging import open_staging
from rocky.store.warehouse import open_warehouse
from tests.store.tables import ORDERS, append, ids, latest, read_ids, replace_with, table_in

NEVER = 2**62


@pytest.fixture
def table(tmp_path):
    found = table_in(tmp_path)
    replace_with(found, ids(found, 1, 2))
    append(found, ids(found, 3))
    return found


@pytest.fixture
def branch(table, tmp_path):
    found = open_warehouse("warehouse/branch__b", base=tmp_path)
    clone_table(table, latest(table), found.table(ORDERS))
    return found


@pytest.fixture
def stranger(tmp_path):
    folder = tmp_path / "stranger"
    folder.mkdir()
    # Named as Rocky names its own, so that nothing but the link can save them.
    for name in ("diary.txt", f"{'a' * 64}.parquet", "00000000000000000000.json"):
        (folder / name).write_text("mine")
    return folder


def folder_of(table) -> Path:
    return table.objects.local_path(table.prefix)


def names(folder: Path) -> list[str]:
    return sorted(each.name for each in folder.iterdir())


@pytest.mark.parametrize(
    "place",
    ["x", "shop/x", "shop/core/x", "shop/core/orders/x", "shop/core/orders/_delta_log/x", "_rocky"],
)
def test_a_deleted_branch_takes_nothing_that_a_link_in_it_leads_to(
    table, branch, stranger, tmp_path, place
):
    root = tmp_path / "warehouse/branch__b"
    (root / place).symlink_to(stranger, target_is_directory=True)
    (root / "shop/core/production").symlink_to(folder_of(table), target_is_directory=True)
    kept = names(stranger)

    drop_branch_folder(branch)

    assert kept == names(stranger)
    assert [1, 2, 3] == read_ids(table)
    assert sorted([place, "shop/core/production"]) == sorted(list_branch_folder(branch).foreign)
    assert () == list_branch_folder(branch).own


def test_a_link_that_stands_for_a_table_of_a_branch_is_not_gone_through(table, branch, tmp_path):
    own = tmp_path / "warehouse/branch__b/shop/core/orders"
    own.rename(tmp_path / "aside")
    own.symlink_to(folder_of(table), target_is_directory=True)
    kept = names(folder_of(table))

    assert 0 == drop_branch_folder(branch)

    assert kept == names(folder_of(table))
    assert [1, 2, 3] == read_ids(table)
    assert own.is_symlink()


def test_a_link_that_stands_for_the_folder_of_a_branch_is_refused(table, tmp_path):
    other = open_warehouse("warehouse/branch__other", base=tmp_path)
    clone_table(table, latest(table), other.table(ORDERS))
    (tmp_path / "warehouse/branch__b").symlink_to(tmp_path / "warehouse/branch__other")

    with pytest.raises(StoreUnreadable, match=r"branch__b`: it is a symbolic link"):
        open_warehouse("warehouse/branch__b", base=tmp_path)
    assert [1, 2, 3] == read_ids(other.table(ORDERS))


def test_a_link_put_in_place_of_an_opened_branch_is_refused(table, branch, tmp_path):
    root = tmp_path / "warehouse/branch__b"
    root.rename(tmp_path / "warehouse/branch__other")
    root.symlink_to(tmp_path / "warehouse/branch__other")

    with pytest.raises(StoreUnreadable, match="is a symbolic link"):
        drop_branch_folder(branch)
    assert [1, 2, 3] == read_ids(
        open_warehouse("warehouse/branch__other", base=tmp_path).table(ORDERS)
    )


def test_a_file_of_a_stranger_in_the_folder_of_a_branch_stays_and_is_named(branch, tmp_path):
    notes = tmp_path / "warehouse/branch__b/shop/core/notes.txt"
    notes.write_text("mine")

    drop_branch_folder(branch)

    assert "mine" == notes.read_text()
    assert ("shop/core/notes.txt",) == list_branch_folder(branch).foreign


def test_a_file_that_only_the_log_of_a_branch_names_goes_with_it(branch, tmp_path):
    own = branch.table(ORDERS)
    file = latest(own).files[0]
    commit = folder_of(own) / "_delta_log" / f"{0:020}.json"
    (folder_of(own) / file.path).rename(folder_of(own) / "part-0.parquet")
    commit.write_text(commit.read_text().replace(file.path, "part-0.parquet"))

    drop_branch_folder(open_warehouse("warehouse/branch__b", base=tmp_path))

    assert not (tmp_path / "warehouse/branch__b").exists()


def test_deleting_a_name_leaves_the_other_names_of_a_file(table, branch):
    files = [folder_of(table) / each.path for each in latest(table).files]
    assert {2} == {each.stat().st_nlink for each in files}

    drop_branch_folder(branch)

    assert {1} == {each.stat().st_nlink for each in files}


def test_a_sweep_goes_through_no_link_among_staged_files(table, stranger):
    staging = folder_of(table) / "_staging"
    staging.mkdir(exist_ok=True)
    (staging / "dead").symlink_to(stranger, target_is_directory=True)
    kept = names(stranger)

    with pytest.raises(StoreUnreadable, match=r"_staging/dead` is a symbolic link"):
        sweep_table(table, NEVER)
    assert kept == names(stranger)


def test_files_that_were_listed_before_a_link_took_the_place_of_their_folder_stay(
    table, stranger, tmp_path
):
    leftover = folder_of(table) / f"{'a' * 64}.parquet"
    leftover.write_text("mine")
    os.utime(leftover, ns=(0, (stranger / leftover.name).stat().st_mtime_ns))
    listed = [each for each in list_files(table).data if each.path.endswith(leftover.name)]
    folder_of(table).rename(tmp_path / "aside")
    (tmp_path / "warehouse/shop/core/orders").symlink_to(stranger, target_is_directory=True)

    removal = remove_files(table, listed, RemovalFence(table, 10**6))
    assert () == removal.gone
    assert isinstance(removal.failure, StoreUnreadable | StoreUnwritable)
    assert "is a symbolic link" in str(removal.failure)
    assert (stranger / leftover.name).exists()


@pytest.mark.parametrize("part", ["shop", "shop/core", "shop/core/orders"])
def test_a_table_is_neither_read_nor_written_through_a_link(table, tmp_path, part):
    place = tmp_path / "warehouse" / part
    place.rename(tmp_path / "aside")
    place.symlink_to(tmp_path / "aside", target_is_directory=True)
    again = open_warehouse("warehouse", base=tmp_path)

    with pytest.raises(StoreUnreadable, match=f"{part}` is a symbolic link"):
        again.table(ORDERS).snapshot()
    with pytest.raises(StoreUnwritable, match=f"{part}` is a symbolic link"):
        again.objects.put("shop/core/orders/x.json", b"x")
    with pytest.raises(StoreUnwritable, match=f"{part}` is a symbolic link"):
        again.objects.delete(["shop/core/orders/_delta_log/00000000000000000000.json"])
    with pytest.raises(StoreUnreadable, match=f"{part}` is a symbolic link"):
        open_staging(again.table(ORDERS))
    assert [] == list(again.tables())


def test_a_warehouse_whose_own_folder_is_a_link_is_the_one_it_leads_to(table, tmp_path):
    (tmp_path / "other").symlink_to(tmp_path / "warehouse", target_is_directory=True)

    assert [1, 2, 3] == read_ids(open_warehouse("other", base=tmp_path).table(ORDERS))


def test_a_commit_or_a_file_that_is_a_link_is_not_read(table, tmp_path):
    commit = folder_of(table) / "_delta_log" / f"{1:020}.json"
    commit.rename(tmp_path / "commit.json")
    commit.symlink_to(tmp_path / "commit.json")

    with pytest.raises(StoreUnreadable, match="is a symbolic link"):
        open_warehouse("warehouse", base=tmp_path).table(ORDERS).snapshot()


def test_a_file_that_is_a_link_is_not_cloned(table, tmp_path):
    file = folder_of(table) / latest(table).files[0].path
    file.rename(tmp_path / "file")
    file.symlink_to(tmp_path / "file")
    clone = open_warehouse("elsewhere", base=tmp_path).table(ORDERS)

    with pytest.raises((StoreUnreadable, StoreUnwritable), match="a link or a folder"):
        clone_table(table, latest(table), clone)


def test_a_log_that_names_a_file_above_its_table_is_refused(table, tmp_path):
    file = latest(table).files[0]
    for commit in (folder_of(table) / "_delta_log").glob("*.json"):
        commit.write_text(commit.read_text().replace(file.path, f"../{file.path}"))
    again = open_warehouse("warehouse", base=tmp_path).table(ORDERS)
    clone = open_warehouse("elsewhere", base=tmp_path).table(ORDERS)

    with pytest.raises(StoreUnreadable, match=r"names a file `\.\./"):
        clone_table(again, latest(again), clone)


def test_staged_files_are_removed_with_links_as_links(table, stranger):
    staging = folder_of(table) / "_staging"
    (staging / "run/below").mkdir(parents=True)
    (staging / "run/below/part.parquet").write_text("x")
    (staging / "run/link").symlink_to(stranger, target_is_directory=True)
    (staging / "run/link.parquet").symlink_to(stranger / "diary.txt")
    kept = names(stranger)
    files = open_staging(table)

    assert ["_staging/run/below/part.parquet"] == files.list_staged("_staging/run")
    files.remove("_staging/run")

    assert not (staging / "run").exists()
    assert kept == names(stranger)


def test_a_staging_folder_that_is_a_link_is_not_emptied(table, stranger):
    staging = folder_of(table) / "_staging"
    (stranger / "run").mkdir()
    (stranger / "run/diary.txt").write_text("mine")
    if staging.exists():
        staging.rmdir()
    staging.symlink_to(stranger, target_is_directory=True)

    with pytest.raises(Escape, match="is a symbolic link"):
        open_staging(table).remove("_staging/run")
    assert (stranger / "run/diary.txt").exists()


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/x", "a//x", "./x", "x\0y", "a/./x"])
def test_a_path_that_leads_above_its_folder_is_refused(tmp_path, path):
    (tmp_path / "x").write_text("mine")
    root = tmp_path / "warehouse"
    (root / "a").mkdir(parents=True)

    for attempt in (refuse_escape, remove_file, remove_tree):
        with pytest.raises(Escape, match="does not name a file"):
            attempt(root, path)
    with pytest.raises(Escape):
        list(walk_folder(root, path))
    assert "mine" == (tmp_path / "x").read_text()


MOUNTED = """
import subprocess, sys
from pathlib import Path
from rocky.store.branch_folder import drop_branch_folder, list_branch_folder
from rocky.store.folder import Escape, remove_tree
from rocky.store.warehouse import open_warehouse
root, options = Path(sys.argv[1]), sys.argv[2:]
branch = root / "warehouse/branch__b"
place = branch / "shop/core/mounted"
subprocess.run(["mount", *options, str(place)], check=True)
kept = place / ("a" * 64 + ".parquet")
kept.write_text("mine")
warehouse = open_warehouse("warehouse/branch__b", base=root)
drop_branch_folder(warehouse)
assert kept.read_text() == "mine"
assert list_branch_folder(warehouse).foreign == ("shop/core/mounted",)
try:
    remove_tree(branch / "shop", "core")
except Escape as refused:
    assert "another file system is mounted" in str(refused)
else:
    raise AssertionError("it was gone into")
assert kept.read_text() == "mine"
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["other", "same"])
def test_what_is_mounted_in_the_folder_of_a_branch_is_not_gone_into(branch, tmp_path, kind):
    own = ["unshare", "--map-root-user", "--mount"]
    if shutil.which("unshare") is None or subprocess.run([*own, "true"], check=False).returncode:
        pytest.skip("mounting needs namespaces of one's own")
    (tmp_path / "warehouse/branch__b/shop/core/mounted").mkdir()
    (tmp_path / "stranger").mkdir()
    options = ["-t", "tmpfs", "none"] if kind == "other" else ["--bind", f"{tmp_path}/stranger"]

    done = subprocess.run(
        [*own, sys.executable, "-c", MOUNTED, str(tmp_path), *options],
        capture_output=True,
        text=True,
        check=False,
    )

    assert (0, "") == (done.returncode, done.stderr)


def test_the_folder_above_branches_is_no_branch(tmp_path):
    (tmp_path / "warehouse").mkdir()

    with pytest.raises(ChangeRefused, match="is not the folder of a branch"):
        drop_branch_folder(open_warehouse("warehouse", base=tmp_path))


def test_nothing_is_staged_through_a_link(table, stranger):
    staging = folder_of(table) / "_staging"
    if staging.exists():
        staging.rmdir()
    staging.symlink_to(stranger, target_is_directory=True)

    with pytest.raises(StoreUnreadable, match=r"_staging` is a symbolic link"):
        table.new_staging()
