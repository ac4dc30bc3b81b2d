"""Every change pair of the corpus gives exactly its diff, and every written rule is among them."""

import re
from functools import cache

import pytest

from rocky.analysis.changes.change import RULES
from rocky.analysis.changes.diff import diff_compilations
from tests.analysis.diff.cases import CORPUS, Case, compile_files, load_cases, read_cases, show_diff

CASES = load_cases()


@cache
def shared_project(topic: str, files: tuple[tuple[str, str], ...], root):
    return compile_files(root, dict(files))


def compiled_pair(case: Case, tmp_path, base_roots):
    files = tuple(sorted(case.before.items()))
    root = base_roots / f"{case.topic}-{hash(files):x}"
    return shared_project(case.topic, files, root), compile_files(tmp_path, case.after)


@pytest.mark.parametrize("topic", sorted({case.topic for case in CASES}))
def test_a_change_pair_gives_exactly_the_diff_it_is_said_to_give(topic, tmp_path, bless):
    different = {}
    for number, case in enumerate(each for each in CASES if each.topic == topic):
        base, head = compiled_pair(case, tmp_path / str(number), tmp_path)
        assert not base.has_errors, (case.name, base.diagnostics)
        assert not head.has_errors, (case.name, head.diagnostics)
        diff = diff_compilations(base, head)
        if bless:
            rewrite(case, show_diff(diff))
        elif (case.verdict, case.expected) != (diff.impact or "none", show_diff(diff)):
            different[case.name] = (diff.impact, show_diff(diff))

    assert {} == different


def rewrite(case: Case, shown: str) -> None:
    """Put what a case gives into its file."""
    path = CORPUS / f"{case.topic}.txt"
    head, *cases = path.read_text(encoding="utf-8").split("\n## ")
    for at, text in enumerate(cases):
        if text.partition("\n")[0] == case.name:
            asked, _, _ = text.partition("\nexpect\n")
            cases[at] = f"{asked.rstrip()}\nexpect\n{shown}\n"
    path.write_text("\n## ".join([head, *cases]), encoding="utf-8")


def test_every_written_rule_is_hit_by_a_change_pair():
    hit = {word for case in CASES for word in re.findall(r"\w+", case.expected)}

    assert set(RULES) - hit == set()


def test_the_corpus_has_at_least_seventy_pairs_and_no_two_of_one_name():
    names = [(case.topic, case.name) for case in CASES]

    assert len(names) == len(set(names))
    assert len(names) >= 70
    assert {path.stem for path in CORPUS.glob("*.txt") if not list(read_cases(path))} == set()
