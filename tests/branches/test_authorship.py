"""Authors by their signatures: whoever signed a commit made the change, whatever name it has."""

import json

import pytest

from rocky.branches.approvals.authorship import parse_commit
from rocky.ledger.branches import load_promotions
from tests.branches.shops import BranchShop, Template
from tests.run.runs import write

pytestmark = pytest.mark.slow

RULES = """
[branch.approval]
required = true
author_proof = "signed_commits"
"""
MORE = "SELECT id, country, id * 2 AS twice FROM raw.orders"


@pytest.fixture(scope="module")
def built(tmp_path_factory, keys) -> Template:
    def prepare(shop: BranchShop) -> None:
        rules = (shop.root / "rocky.toml").read_text() + RULES
        listed = keys.listed(ada="ada@example.com", bob="bob@example.com")
        write(shop.root, {"rocky.toml": rules, "allowed_signers": listed})
        shop.commit("rules")
        shop.do("run")
        shop.git("checkout", "-qb", "feature")
        shop.do("branch", "create", "b1")
        shop.write(stg_orders=MORE)
        shop.do("run", "--branch", "b1")

    return Template(tmp_path_factory.mktemp("authorship"), prepare)


@pytest.fixture
def shop(built, monkeypatch) -> BranchShop:
    return built.put_back(monkeypatch)


def commit_as(shop: BranchShop, address: str, key=None, *more: str) -> None:
    line = ["-c", f"user.email={address}", "-c", "gpg.format=ssh"]
    sign = ["--no-gpg-sign"]
    if key is not None:
        line += ["-c", f"user.signingkey={key}"]
        sign = ["-S"]
    shop.git("add", "-A")
    shop.git(*line, "commit", "-qm", "more", *sign, *more)


def approve(shop: BranchShop, keys, name: str):
    return shop.rocky(
        "branch", "approve", "b1", "--key", str(keys.path(name)), "--as", f"{name}@example.com"
    )


def test_who_signed_a_commit_under_another_name_may_not_approve_it(shop, keys):
    commit_as(shop, "ghost@example.com", keys.path("bob"))

    refused = approve(shop, keys, "bob")

    assert 1 == refused.code
    assert "own_change" in refused.err or "made the change" in refused.err


def test_somebody_else_may_approve_what_was_signed(shop, keys):
    commit_as(shop, "ghost@example.com", keys.path("bob"))

    assert 0 == approve(shop, keys, "ada").code
    standing = json.loads(shop.do("branch", "approvals", "b1", "-o", "json"))
    shop.do("branch", "promote", "b1")

    assert ("signed_commits", True) == (standing["policy"]["author_proof"], standing["satisfied"])
    (promoted,) = load_promotions(shop.state())
    assert "signed_commits" == promoted.policy["author_proof"]


def test_a_commit_that_is_not_signed_is_refused(shop, keys):
    commit_as(shop, "ghost@example.com")

    for answer in (approve(shop, keys, "bob"), shop.rocky("branch", "promote", "b1")):
        assert 1 == answer.code
        assert "is not signed with an SSH key" in " ".join(answer.err.split())


def test_one_commit_among_signed_ones_that_is_not_is_refused(shop, keys):
    commit_as(shop, "ada@example.com", keys.path("ada"))
    write(shop.root, {"models/notes.toml": "", "models/notes.sql": "SELECT 1 AS id"})
    commit_as(shop, "ghost@example.com")

    assert "is not signed with an SSH key" in " ".join(approve(shop, keys, "bob").err.split())


def test_a_key_that_is_not_listed_proves_nobody(shop, keys):
    commit_as(shop, "ada@example.com", keys.path("cleo"))

    refused = approve(shop, keys, "bob")

    assert 1 == refused.code
    assert "does not allow to sign commits now" in " ".join(refused.err.split())


def test_a_key_listed_for_approvals_alone_proves_no_author(shop, keys):
    line = f'bob@example.com namespaces="rocky-approval" {keys.public("bob")}\n'
    write(shop.root, {"allowed_signers": keys.listed(ada="ada@example.com") + line})
    commit_as(shop, "bob@example.com", keys.path("bob"))

    refused = approve(shop, keys, "ada")
    assert "does not allow to sign commits now" in " ".join(refused.err.split())


def test_a_signature_of_another_commit_is_refused(shop, keys):
    commit_as(shop, "bob@example.com", keys.path("bob"))
    signed = shop.git("cat-file", "commit", "HEAD") + "\n"
    forged = shop.root / ".git/forged"
    forged.write_text(signed.replace("bob@example.com", "ghost@example.com"))
    shop.git("reset", "-q", "--hard", shop.git("hash-object", "-t", "commit", "-w", str(forged)))

    refused = approve(shop, keys, "ada")
    assert 1 == refused.code
    assert "does not allow to sign commits now" in " ".join(refused.err.split())


def test_what_is_not_committed_has_no_proven_author(shop, keys):
    refused = approve(shop, keys, "bob")

    assert 1 == refused.code
    assert "changes that are not committed" in " ".join(refused.err.split())


def test_a_change_cannot_drop_the_rule_that_holds_it(shop, keys):
    config = shop.root / "rocky.toml"
    config.write_text(config.read_text().replace('author_proof = "signed_commits"\n', ""))
    commit_as(shop, "ghost@example.com")

    assert "is not signed with an SSH key" in " ".join(approve(shop, keys, "bob").err.split())


def test_without_the_rule_approvals_and_promotion_say_that_the_author_is_unproven(shop, keys):
    shop.git("stash", "-q")
    shop.git("checkout", "-q", "main")
    config = shop.root / "rocky.toml"
    config.write_text(config.read_text().replace('author_proof = "signed_commits"\n', ""))
    shop.commit("looser")
    shop.git("checkout", "-q", "feature")
    shop.git("reset", "-q", "--hard", "main")
    shop.git("stash", "pop", "-q")
    commit_as(shop, "ghost@example.com")
    shop.do("branch", "rebase", "b1")
    shop.do("run", "--branch", "b1")

    approve(shop, keys, "bob")
    assert "author unproven" in shop.do("branch", "approvals", "b1")
    shop.do("branch", "promote", "b1")
    assert "author unproven" == load_promotions(shop.state())[-1].policy["author_proof"]


@pytest.mark.parametrize(
    "data",
    [
        b"tree a\n\nmessage\n",
        b"tree a\n\ngpgsig fake\n",
        b"tree a\ngpgsig one\n two\ngpgsig three\n\nmessage\n",
        b"",
    ],
)
def test_an_object_without_one_signature_is_unsigned(data):
    assert parse_commit(data) is None


def test_a_commit_is_signed_without_the_header_of_its_signature():
    found = parse_commit(b"tree a\nauthor x\ngpgsig one\n two\n \n three\n\nmessage\n\nmore\n")

    assert found is not None
    assert b"tree a\nauthor x\n\nmessage\n\nmore\n" == found.payload
    assert "one\ntwo\n\nthree\n" == found.signature
