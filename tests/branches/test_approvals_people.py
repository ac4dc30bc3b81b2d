"""Who may approve: keys that are listed, people who count once, and never the author."""

from dataclasses import replace
from datetime import timedelta

import pytest

from rocky.branches.approvals.validity import find_shortfall
from rocky.errors import ApprovalRefused
from tests.branches.statements import NOW, Desk, edited_text


@pytest.fixture
def desk(tmp_path, keys):
    return Desk(tmp_path, keys)


def test_a_key_that_is_in_no_list_is_refused(desk):
    desk.sign("bob")
    desk.lists = [desk.keys.listed(cleo="cleo@example.com")]

    assert ["unknown_key"] == desk.verdicts()


def test_a_key_counts_only_for_the_names_it_is_listed_with(desk):
    signed = desk.sign("bob")
    desk.forge(signed, "bob", edited_text(signed, approver="cleo@example.com"))

    assert ["unknown_key"] == desk.verdicts()


def test_a_key_must_be_in_both_lists_where_there_are_two(desk):
    desk.sign("bob")
    both = desk.keys.listed(bob="bob@example.com", cleo="cleo@example.com")
    desk.lists = [both, desk.keys.listed(cleo="cleo@example.com")]

    assert ["unknown_key"] == desk.verdicts()


@pytest.mark.parametrize(
    ("option", "verdict"),
    [
        ('valid-before="20260301"', "unknown_key"),
        ('valid-after="20260302"', "unknown_key"),
        ('valid-after="20260301",valid-before="20260302"', "counts"),
        ('namespaces="git,file"', "unknown_key"),
        ('namespaces="git,rocky-approval"', "counts"),
    ],
)
def test_the_options_of_a_line_hold(desk, option, verdict):
    desk.sign("bob")
    desk.lists = [f"bob@example.com {option} {desk.keys.public('bob')}\n"]

    assert [verdict] == desk.verdicts()


def test_a_key_that_was_given_up_after_it_signed_does_not_count(desk):
    desk.sign("bob")
    desk.lists = [f'bob@example.com valid-before="20260301130000" {desk.keys.public("bob")}\n']
    assert ["counts"] == desk.verdicts()

    desk.now = NOW + timedelta(hours=2)
    assert ["unknown_key"] == desk.verdicts()


def test_a_signature_made_for_something_else_is_refused(desk):
    signed = desk.sign("bob")
    desk.forge(signed, "bob", signed.record.statement, namespace="git")

    assert ["bad_signature"] == desk.verdicts()
    assert ["it was signed for `git`, not for `rocky-approval`"] == desk.details()


def test_a_key_that_is_not_ed25519_is_refused(desk):
    signed = desk.sign("bob")
    desk.forge(signed, "rsa", edited_text(signed, approver="rsa@example.com"))

    assert ["not_ed25519"] == desk.verdicts()
    with pytest.raises(ApprovalRefused, match="is a key of kind RSA"):
        desk.sign("rsa")


@pytest.mark.slow
def test_two_approvals_by_one_name_with_two_keys_are_one_person(desk):
    desk.policy = replace(desk.policy, min_approvers=2)
    desk.sign("ada")
    desk.now += timedelta(seconds=1)
    newer = desk.sign("ada-laptop")

    assert ["duplicate_person", "counts"] == desk.verdicts()
    assert [f"`{newer.record.approval_id}` is of the same person and counts"] == desk.details()
    assert "2 people must approve" in find_shortfall(desk.check(), desk.policy)


def test_two_approvals_with_one_key_under_two_names_are_one_person(desk):
    desk.lists = [f"bob@example.com,robert@example.com {desk.keys.public('bob')}\n"]
    desk.sign("bob")
    desk.now += timedelta(seconds=1)
    desk.sign("bob", "robert@example.com")

    assert ["duplicate_person", "counts"] == desk.verdicts()


def test_two_keys_that_one_line_links_by_name_are_one_person(desk):
    desk.lists = [
        f"ada@example.com,ada@home.example {desk.keys.public('ada')}\n"
        f"ada@home.example {desk.keys.public('ada-laptop')}\n"
    ]
    desk.sign("ada")
    desk.now += timedelta(seconds=1)
    desk.sign("ada-laptop", "ada@home.example")

    assert ["duplicate_person", "counts"] == desk.verdicts()


def test_two_people_are_two(desk):
    desk.policy = replace(desk.policy, min_approvers=2)
    desk.sign("ada")
    desk.sign("bob")

    assert ["counts", "counts"] == desk.verdicts()
    assert None is find_shortfall(desk.check(), desk.policy)


def test_who_made_a_change_may_not_approve_it(desk):
    desk.sign("bob")
    desk.authors = frozenset({"BOB@example.com"})

    assert ["own_change"] == desk.verdicts()
    with pytest.raises(ApprovalRefused, match="own_change"):
        desk.sign("bob")


def test_who_made_a_change_may_not_approve_it_under_another_name(desk):
    desk.lists = [f"*@example.com {desk.keys.public('bob')}\n"]
    desk.authors = frozenset({"bob@example.com"})

    with pytest.raises(ApprovalRefused, match=r"may also be of `bob@example\.com`"):
        desk.sign("bob", "somebody@example.com")


def test_an_author_may_approve_where_the_policy_says_so(desk):
    desk.policy = replace(desk.policy, allow_author=True)
    desk.authors = frozenset({"bob@example.com"})
    desk.sign("bob")

    assert ["counts"] == desk.verdicts()
