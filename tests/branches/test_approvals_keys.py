"""Signing with real keys: from files, from an agent, and where nobody can be asked."""

import os
import shutil
import subprocess

import pytest

from rocky.branches.approvals.ssh import Keygen, KeyLocation
from rocky.errors import ApprovalRefused, KeygenUnavailable


@pytest.fixture
def agent(keys, tmp_path):
    """An agent that has one key."""
    if shutil.which("ssh-agent") is None:
        pytest.skip("no ssh-agent")
    socket = tmp_path / "agent"
    server = subprocess.Popen(
        ["ssh-agent", "-D", "-a", socket], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    server.stdout.readline()
    environment = {**os.environ, "SSH_AUTH_SOCK": str(socket)}
    subprocess.run(["ssh-add", "-q", keys.path("bob")], env=environment, check=True)
    yield environment
    server.terminate()
    server.communicate()


@pytest.mark.parametrize("literal", [False, True])
def test_an_agent_signs_for_a_public_key(keys, agent, tmp_path, literal):
    lonely = tmp_path / "lonely.pub"
    lonely.write_text(f"{keys.public('bob')}\n")
    place = KeyLocation(literal=keys.public("bob")) if literal else KeyLocation(lonely)
    keygen = Keygen(agent)
    key = keygen.describe(place)

    assert keygen.check(b"text", keygen.sign(key, b"text")).good


def test_a_public_key_that_no_agent_has_is_refused(keys, tmp_path):
    lonely = tmp_path / "lonely.pub"
    lonely.write_text(f"{keys.public('bob')}\n")
    environment = {name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"}
    keygen = Keygen(environment)

    with pytest.raises(ApprovalRefused, match="no agent has the private key of"):
        keygen.sign(keygen.describe(KeyLocation(lonely)), b"text")


@pytest.mark.slow
def test_a_passphrase_is_not_asked_for_without_a_terminal(tmp_path):
    path = tmp_path / "locked"
    line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "secret", "-f", path]
    subprocess.run(line, check=True)
    keygen = Keygen({name: value for name, value in os.environ.items() if name != "SSH_AUTH_SOCK"})

    with pytest.raises(ApprovalRefused, match=r"has a passphrase, and there is no terminal"):
        keygen.sign(keygen.describe(KeyLocation(path)), b"text")


def test_without_ssh_keygen_its_package_is_named(keys, tmp_path):
    with pytest.raises(KeygenUnavailable, match="Debian has it in `openssh-client`"):
        Keygen({"PATH": str(tmp_path)}).describe(KeyLocation(keys.path("bob")))


def test_a_key_without_a_passphrase_signs_on_a_terminal_too(keys):
    keygen = Keygen(dict(os.environ), interactive=True)
    key = keygen.describe(KeyLocation(keys.path("bob")))

    assert keygen.check(b"text", keygen.sign(key, b"text")).good
