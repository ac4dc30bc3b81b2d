"""Expectations: marks in a case's own files that say which finding belongs on the next line.

`-- expect: E003` in SQL, or `# expect: E003` in TOML, stands above the offending line;
`expect-file: E016` means the file as a whole, and `# expect-at seeds/s.csv:3: E048` a line of a
file that has no comments. Marks carry the meaning of a case and survive a
rewording; the wording itself is in `expected.txt`.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rocky.diagnostics import Diagnostic
from rocky.project import Project

_MARK = re.compile(r"^\s*(?:--|#) expect(?P<file>-file)?: (?P<codes>\w+(?:, \w+)*)$")
_ELSEWHERE = re.compile(r"^# expect-at (?P<path>\S+):(?P<line>\d+): (?P<code>\w+)$")
_MARKED = (".sql", ".toml")


@dataclass(frozen=True, slots=True, order=True)
class Expectation:
    """A code on a line of a file; line 0 is the file as a whole."""

    path: str
    line: int
    code: str


def expected_findings(root: Path) -> list[Expectation]:
    """What the marks in a project's files say."""
    found: list[Expectation] = []
    for path in sorted(root.rglob("*")):
        if path.suffix not in _MARKED:
            continue
        name = path.relative_to(root).as_posix()
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
            elsewhere = _ELSEWHERE.match(line)
            if elsewhere:
                place = int(elsewhere["line"])
                found.append(Expectation(elsewhere["path"], place, elsewhere["code"]))
            mark = _MARK.match(line)
            if mark:
                place = 0 if mark["file"] else number + 1
                found += [Expectation(name, place, code) for code in mark["codes"].split(", ")]
    return sorted(found)


def reported_findings(diagnostics: Iterable[Diagnostic], project: Project) -> list[Expectation]:
    """What a compile reported, in the same terms."""
    return sorted(
        Expectation(each.path or "", _line_of(each, project), each.code.value)
        for each in diagnostics
    )


def _line_of(diagnostic: Diagnostic, project: Project) -> int:
    text = project.texts.get(diagnostic.path or "")
    if diagnostic.span is None or text is None:
        return 0
    return text.text.count("\n", 0, diagnostic.span.start) + 1
