"""Disks that are full or mounted read-only: the advice is about the disk, not about permissions.

Real ones: a tiny file system in memory, in a mount namespace of the test's own.
"""

import errno
import subprocess
import sys

import pytest

from rocky.errors import advise_on_write

pytestmark = pytest.mark.slow

FILL = """
import os, sys
from datetime import UTC, datetime
from pathlib import Path
from rocky.errors import LedgerUnwritable

folder, room = Path(sys.argv[1]), int(sys.argv[2])
if room >= 0:
    fill = folder / "fill"
    with fill.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(512))
        except OSError:
            pass
    os.truncate(fill, fill.stat().st_size - room)
try:
"""
WRITE = """
    from rocky.ledger.database import connect_writer
    connect_writer(folder / "state.db")
except LedgerUnwritable as failure:
    print(failure)
"""
CLAIM = """
    from rocky.ledger.claims import Claim, hold_claim
    hold_claim(folder / "state.db", Claim("r", 1, "host", datetime.now(UTC), ("t" * 5000,)))
except LedgerUnwritable as failure:
    print(failure)
"""
CHECK = """
    from rocky.operations.health.health_checks import _try_folder
    print(_try_folder(folder / "state.db"))
except LedgerUnwritable as failure:
    print(failure)
"""
MOUNTED = 'mount -t tmpfs -o "size=128k,$1" tmpfs "$2" && exec "$3" -c "$4" "$2" "$5"'
ALL_OF_IT = -1


def on_tiny_disk(folder, program, room, mode="rw"):
    """What a program says whose folder is a disk of 128 kilobytes with some room left."""
    mounted = ["sh", "-c", MOUNTED, "sh", mode, str(folder)]
    command = ["unshare", "-rm", *mounted, sys.executable, FILL + program, str(room)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert not done.returncode, done.stderr
    return done.stdout


def has_namespaces():
    try:
        return not subprocess.run(
            ["unshare", "-rm", "true"], capture_output=True, check=False
        ).returncode
    except FileNotFoundError:
        return False


needs_namespaces = pytest.mark.skipif(not has_namespaces(), reason="no mount namespaces here")


@needs_namespaces
@pytest.mark.parametrize("room", [0, 4096, 8192, 16_384, 40_960])
def test_a_state_file_without_room_is_not_a_matter_of_permissions(tmp_path, room):
    said = on_tiny_disk(tmp_path, WRITE, room)

    assert "no space left" in said
    assert "make room" in said
    assert "writable" not in said


@needs_namespaces
@pytest.mark.parametrize("program", [CLAIM, CHECK], ids=["claim", "doctor"])
def test_a_full_folder_of_the_state_is_told_as_full(tmp_path, program):
    said = on_tiny_disk(tmp_path, program, 0)

    assert "no space left on device" in said
    assert "make room on its disk, then retry, or name another" in said
    assert "writable" not in said


@needs_namespaces
@pytest.mark.parametrize("program", [WRITE, CLAIM, CHECK], ids=["write", "claim", "doctor"])
def test_a_disk_that_is_mounted_read_only_is_told_as_that(tmp_path, program):
    said = on_tiny_disk(tmp_path, program, ALL_OF_IT, "ro")

    assert "read-only file system" in said
    assert "its disk is mounted read-only: mount it for writing" in said
    assert "make it" not in said


def test_permissions_are_advised_where_they_are_what_is_missing():
    assert "chmod it" == advise_on_write(PermissionError(errno.EACCES, "denied"), "chmod it")
    assert "quota" in advise_on_write(OSError(errno.EDQUOT, "quota"), "chmod it")
    assert "ulimit -f" in advise_on_write(OSError(errno.EFBIG, "too large"), "chmod it")
