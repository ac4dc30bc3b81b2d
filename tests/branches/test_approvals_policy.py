"""Whose rules count: those before a change, and the change can only make them stricter."""

from dataclasses import replace

import pytest

from rocky.branches.approvals.commits import find_authors, find_change_base, find_git_signing_key
from rocky.branches.approvals.policy import ProjectAtCommit, Signers, find_policy, parse_signers
from rocky.branches.approvals.signatures import KeyChoices, find_key, find_principal
from rocky.branches.approvals.ssh import KeyLocation, SigningKey
from rocky.errors import ApprovalRefused, SignersUnusable
from rocky.project import load_project
from rocky.project.git import find_repository
from tests.branches.statements import KEYGEN, RECORD
from tests.project.git.repos import make_repo

MODEL = {"models/a.sql": "SELECT 1 AS one\n"}


def rules(**settings):
    lines = "\n".join(f"{key} = {value}" for key, value in settings.items())
    return f'[pipeline.p]\nmodels = "models/**"\n[branch.approval]\n{lines}\n'


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return load_project(root, env={})


def before(files, commit="c"):
    """What a commit had."""
    had = {"rocky.toml": files} if isinstance(files, str) else files
    return ProjectAtCommit(commit * 40, lambda path: had[path].encode() if path in had else None)


def policy_of(root, now, then=None, main=None):
    """The policy of a project with some rules, by a commit with others and the main line's."""
    files = {"rocky.toml": now} if isinstance(now, str) else now
    past = [before(each, name) for each, name in ((then, "c"), (main, "e")) if each is not None]
    return find_policy(write(root, {**MODEL, **files}), past, {})


STRICT = rules(required="true", min_approvers=2, max_age_seconds=3600)
LOOSE = rules(required="false", min_approvers=1, max_age_seconds=999999, allow_author="true")


LISTED = {"rocky.toml": STRICT, "allowed_signers": ""}


@pytest.mark.parametrize(
    ("now", "then", "main"),
    [
        (STRICT, LOOSE, LOOSE),
        (LOOSE, LISTED, LOOSE),
        (LOOSE, LOOSE, LISTED),
        (STRICT, LISTED, LISTED),
    ],
)
def test_the_strictest_rules_of_change_base_and_main_line_count(tmp_path, now, then, main):
    found = policy_of(tmp_path, now, then, main)

    assert (True, 2, 3600, False) == (
        found.required,
        found.min_approvers,
        found.max_age_seconds,
        found.allow_author,
    )


def test_outside_git_the_rules_are_those_of_the_working_tree(tmp_path):
    found = policy_of(tmp_path, LOOSE)

    assert (False, 1, 999999, True) == (
        found.required,
        found.min_approvers,
        found.max_age_seconds,
        found.allow_author,
    )


def test_the_signers_are_those_of_the_commit_before(tmp_path, keys):
    ada, bob = keys.listed(ada="ada@x"), keys.listed(ada="ada@x", bob="bob@x")
    bobs = decode(keys, "bob")
    found = policy_of(
        tmp_path,
        {"rocky.toml": STRICT, "allowed_signers": bob},
        {"rocky.toml": STRICT, "allowed_signers": ada},
    )

    assert not found.signers.is_listed(bobs)
    assert found.signers.is_listed(decode(keys, "ada"))
    assert () == found.warnings


def decode(keys, name):
    return KEYGEN.describe(KeyLocation(keys.path(name))).fingerprint


def test_a_signer_who_was_taken_off_the_list_may_not_sign(tmp_path, keys):
    ada, both = keys.listed(ada="ada@x"), keys.listed(ada="ada@x", bob="bob@x")
    found = policy_of(
        tmp_path,
        {"rocky.toml": STRICT, "allowed_signers": ada},
        {"rocky.toml": STRICT, "allowed_signers": both},
    )

    assert not found.signers.is_listed(decode(keys, "bob"))


def test_a_change_cannot_point_at_another_list(tmp_path, keys):
    other = rules(required="true", allowed_signers='"friends"')
    found = policy_of(
        tmp_path,
        {"rocky.toml": other, "friends": keys.listed(bob="bob@x")},
        {"rocky.toml": STRICT, "allowed_signers": keys.listed(ada="ada@x")},
    )

    assert not found.signers.is_listed(decode(keys, "bob"))


def test_a_list_that_is_gone_leaves_the_one_before(tmp_path, keys):
    then = {"rocky.toml": STRICT, "allowed_signers": keys.listed(ada="ada@x")}
    found = policy_of(tmp_path, STRICT, then)

    assert found.signers.is_listed(decode(keys, "ada"))
    assert (
        "`allowed_signers` is gone: `allowed_signers` of commit `cccccccccccc` counts",
    ) == found.warnings


def test_a_signer_whom_the_main_line_has_dropped_may_not_sign(tmp_path, keys):
    ada, both = keys.listed(ada="ada@x"), keys.listed(ada="ada@x", bob="bob@x")
    then = {"rocky.toml": STRICT, "allowed_signers": both}
    found = policy_of(tmp_path, then, then, {"rocky.toml": STRICT, "allowed_signers": ada})

    assert not found.signers.is_listed(decode(keys, "bob"))
    assert found.signers.is_listed(decode(keys, "ada"))
    assert (
        "`allowed_signers` of commit `cccccccccccc` and `allowed_signers` of commit `eeeeeeeeeeee`"
    ) == found.signers.origin


@pytest.mark.parametrize(("then", "main"), [(LOOSE, STRICT), (STRICT, LOOSE), (LISTED, STRICT)])
def test_where_approval_is_required_a_change_cannot_bring_the_first_list(
    tmp_path, keys, then, main
):
    now = {"rocky.toml": STRICT, "allowed_signers": keys.listed(ada="ada@x")}

    with pytest.raises(SignersUnusable, match=r"not in commit `e+`, and approval is required"):
        policy_of(tmp_path, now, then, main)


def test_a_list_that_the_main_line_has_by_now_counts(tmp_path, keys):
    main = {"rocky.toml": STRICT, "allowed_signers": keys.listed(ada="ada@x")}
    found = policy_of(tmp_path, main, STRICT, main)

    assert found.signers.is_listed(decode(keys, "ada"))
    assert () == found.warnings


def test_a_main_line_without_the_project_has_no_rules_to_loosen(tmp_path):
    with pytest.raises(SignersUnusable, match=r"no `rocky\.toml` in commit `e+`"):
        policy_of(tmp_path, LOOSE, LOOSE, {})


def test_a_first_list_counts_with_a_warning(tmp_path, keys):
    now = {"rocky.toml": STRICT, "allowed_signers": keys.listed(ada="ada@x")}
    found = policy_of(tmp_path, now, LOOSE)

    assert found.signers.is_listed(decode(keys, "ada"))
    assert (
        "`allowed_signers` is not in commit `cccccccccccc`: the change itself says who may approve",
    ) == found.warnings


@pytest.mark.parametrize(
    "then",
    [
        "[branch.approval\n",
        rules(required='"perhaps"'),
        rules(min_approvers=0),
        rules(allowed_signers='["ada@example.com"]'),
        rules(allowed_signers='"${WHO_SIGNS}"'),
        rules(requried="true"),
    ],
)
def test_rules_that_cannot_be_read_let_nobody_through(tmp_path, then):
    with pytest.raises(SignersUnusable):
        policy_of(tmp_path, LOOSE, then)


def test_rules_that_are_wrong_now_let_nobody_through(tmp_path):
    with pytest.raises(SignersUnusable, match=r"`rocky\.toml` has errors"):
        policy_of(tmp_path, rules(min_approvers=0))


def test_other_settings_before_may_be_wrong_here(tmp_path):
    then = '[adapter]\nwarehouse = "${ELSEWHERE}"\n' + STRICT

    assert policy_of(tmp_path, LOOSE, {**LISTED, "rocky.toml": then}).required


@pytest.mark.parametrize("path", ["/etc/signers", "../signers", ".", ""])
def test_the_list_must_be_a_file_of_the_project(tmp_path, path):
    with pytest.raises(SignersUnusable, match="must be a file of the project"):
        policy_of(tmp_path, rules(allowed_signers=f'"{path}"'))


@pytest.mark.parametrize(
    "line",
    [
        "ada@x",
        "ada@x ssh-ed25519",
        "ada@x ssh-ed25519 nonsense",
        "ada@x ssh-rsa {ada}",
        "ada@x option option {key}",
    ],
)
def test_a_line_that_cannot_be_read_makes_the_list_unusable(keys, line):
    key = keys.public("ada")
    text = line.format(ada=key.split()[1], key=key)

    with pytest.raises(SignersUnusable, match=r"line 2 is not written"):
        parse_signers(f"# signers\n{text}\n".encode(), "`allowed_signers`")


def test_a_certificate_authority_is_refused(keys):
    line = f'*@x namespaces="git",cert-authority {keys.public("ada")}\n'

    with pytest.raises(SignersUnusable, match="`cert-authority` is not supported"):
        parse_signers(line.encode(), "`allowed_signers`")


def test_a_list_in_another_encoding_is_unusable():
    with pytest.raises(SignersUnusable, match="is not UTF-8"):
        parse_signers(b"\xff\xfe", "`allowed_signers`")


def signers(text):
    return Signers((parse_signers(text.encode(), "`allowed_signers`"),))


def test_a_key_signs_under_the_name_it_is_listed_with(keys):
    ada = SigningKey(KeyLocation(keys.path("ada")), decode(keys, "ada"))
    one = signers(keys.listed(ada="ada@x"))
    two = signers(f'"ada@x,*@home" {keys.public("ada")} a comment\n')

    assert "ada@x" == find_principal(ada, one, None, None)
    assert "ada@x" == find_principal(ada, one, None, "other@y")
    assert "me@home" == find_principal(ada, two, None, "me@home")
    assert "you@y" == find_principal(ada, one, "you@y", "ada@x")
    with pytest.raises(ApprovalRefused, match="has several names"):
        find_principal(ada, two, None, None)
    with pytest.raises(ApprovalRefused, match="is not in `allowed_signers`"):
        find_principal(ada, signers(keys.listed(bob="bob@x")), None, None)
    with pytest.raises(ApprovalRefused, match="there is no list"):
        find_principal(ada, Signers(), None, None)
    with pytest.raises(ApprovalRefused, match="not the name of a signer"):
        find_principal(ada, one, "a b", None)


def test_a_key_is_found_by_option_then_variable_then_git_then_home(keys, tmp_path):
    home = tmp_path / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh/id_ed25519.pub").write_text(keys.public("cleo"))
    (home / "bob.pub").write_text(keys.public("bob"))
    ada, bob, cleo = (decode(keys, name) for name in ("ada", "bob", "cleo"))
    option, literal = str(keys.path("ada")), f"key::{keys.public('bob')}"

    def chosen(*choices):
        return find_key(KeyChoices(*choices, home=home), KEYGEN).fingerprint

    assert ada == chosen(option, literal, literal)
    assert bob == chosen(None, literal, option)
    assert bob == chosen(None, None, keys.public("bob"))
    assert bob == chosen(None, None, "~/bob.pub")
    assert cleo == chosen(None, None, None)
    with pytest.raises(ApprovalRefused, match=r"there is no key `nowhere`, which `--key` names"):
        chosen("nowhere", None, None)
    with pytest.raises(ApprovalRefused, match="cannot be read as an SSH key"):
        chosen(str(tmp_path), None, None)
    with pytest.raises(ApprovalRefused, match="there is no key to sign with"):
        find_key(KeyChoices(home=tmp_path), KEYGEN)


def test_git_names_a_key_only_where_it_signs_with_ssh(tmp_path):
    repo = make_repo(tmp_path / "r", {"a": "1"})
    repository = find_repository(repo.root)
    repo.git("config", "user.signingkey", "~/.ssh/work")
    repo.git("config", "gpg.format", "openpgp")
    assert None is find_git_signing_key(repository)

    repo.git("config", "gpg.format", "ssh")
    assert "~/.ssh/work" == find_git_signing_key(repository)


def commit_as(repo, email, message="a change"):
    repo.git("add", "-A")
    repo.git("-c", f"user.email={email}", "commit", "-q", "--allow-empty", "-m", message)
    return repo.git("rev-parse", "HEAD")


def replace_base(commit):
    return replace(RECORD, base_commit=commit)


@pytest.mark.slow
def test_who_only_commits_approvals_or_merges_is_no_author(tmp_path):
    repo = make_repo(tmp_path / "r", {"p/rocky.toml": STRICT, "p/models/a.sql": "SELECT 1 AS a"})
    record = replace_base(repo.git("rev-parse", "HEAD"))
    repo.git("checkout", "-q", "-b", "feature")
    repo.write({"p/models/a.sql": "SELECT 2 AS a"})
    commit_as(repo, "eve@example.com")
    repo.write({"p/.rocky/approvals/feature/1.json": "{}"})
    commit_as(repo, "bob@example.com")
    repo.git("checkout", "-q", "main")
    repo.write({"p/models/b.sql": "SELECT 1 AS b"})
    commit_as(repo, "cleo@example.com")
    repo.git("-c", "user.email=bob@example.com", "merge", "-q", "--no-ff", "feature", "-m", "in")
    repository = find_repository(repo.root / "p")

    def authors():
        return find_authors(
            repository, find_change_base(repository, record).base, record, dirty=False
        )

    assert {"eve@example.com", "cleo@example.com", "author@example.com"} == authors()

    repo.write({"p/models/b.sql": "SELECT 3 AS b"})
    repo.git("add", "-A")
    repo.git(
        "-c",
        "user.email=mallory@example.com",
        "commit",
        "-q",
        "--amend",
        "--reset-author",
        "--no-edit",
    )
    assert "mallory@example.com" in authors()


def test_who_has_uncommitted_changes_counts_as_an_author(tmp_path):
    repo = make_repo(tmp_path / "r", {"rocky.toml": STRICT})
    repo.git("config", "user.email", "Here@example.com")
    repository = find_repository(repo.root)
    record = replace_base(repo.git("rev-parse", "HEAD"))
    base = find_change_base(repository, record).base

    assert {"author@example.com"} == find_authors(repository, base, record, dirty=False)
    assert {"author@example.com", "here@example.com"} == find_authors(
        repository, base, record, dirty=True
    )
    assert {"author@example.com"} == find_authors(None, None, record, dirty=False)


def test_a_list_with_windows_line_ends_is_read(keys):
    text = keys.listed(ada="ada@x").replace("\n", "\r\n")

    assert signers(text).is_listed(decode(keys, "ada"))
