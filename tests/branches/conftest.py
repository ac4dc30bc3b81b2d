"""Real keys, made once: the program that makes and judges signatures is the real one."""

import subprocess

import pytest

from tests.branches.statements import Keys


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> Keys:
    """A key each for three people, a second one of the first, and one that is not Ed25519."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "ada-laptop", "bob", "cleo"):
        line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        subprocess.run(line, check=True)
    line = ["ssh-keygen", "-q", "-t", "rsa", "-b", "2048", "-N", "", "-f", folder / "rsa"]
    subprocess.run(line, check=True)
    return Keys(folder)
