"""Files are hashed as they are read, and the hash is remembered while they stay the same."""

import os
import time

import pytest
from blake3 import blake3

from rocky.run.checksums import Checksums, hash_file


@pytest.mark.parametrize("size", [0, 1, 4 << 20, (4 << 20) + 1])
def test_the_hash_of_a_file_is_that_of_its_bytes(tmp_path, size):
    data = os.urandom(size)
    (tmp_path / "f").write_bytes(data)

    assert blake3(data).hexdigest() == hash_file(tmp_path / "f")


def test_a_file_is_read_and_not_mapped(tmp_path, monkeypatch):
    (tmp_path / "f").write_bytes(b"1")

    class Unmapped:
        AUTO = blake3.AUTO

        def __init__(self, max_threads: int) -> None:
            self._hasher = blake3(max_threads=max_threads)

        def update(self, data: bytes) -> None:
            self._hasher.update(data)

        def hexdigest(self) -> str:
            return self._hasher.hexdigest()

    monkeypatch.setattr("rocky.run.checksums.blake3", Unmapped)

    assert (blake3(b"1").hexdigest(),) == Checksums(tmp_path).of([str(tmp_path / "f")])


def test_a_file_that_has_just_changed_is_hashed_again(tmp_path):
    path, checksums = tmp_path / "f", Checksums(tmp_path)
    path.write_bytes(b"1")
    first = checksums.of([str(path)])
    path.write_bytes(b"2")
    os.utime(path, ns=(time.time_ns(), path.stat().st_mtime_ns))

    assert first != checksums.of([str(path)])
