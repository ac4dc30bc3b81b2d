"""What must hold for every tracked file, and for the pages that point at each other."""

import ast
import re
import subprocess
from pathlib import Path

import pytest

import rocky

ROOT = Path(__file__).parents[2]

# Whoever reads the repository has neither our machine nor our package mirror.
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.:/-])/(home|root|tmp|work|farm|opt)/[a-zA-Z.]")
REGISTRY_HOST = re.compile(
    r"https?://[a-z0-9.-]*(python|npm|maven|debian|crates)[a-z0-9.-]*\.(org|com|net|io)/"
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```+).*?^\1\s*$", re.MULTILINE | re.DOTALL)

PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md", "docs/")
NAMED_MODULE = re.compile(r"`(rocky(?:\.\w+)+)")
NAMED_PATH = re.compile(r"`((?:src|tests|tools|benchmarks|examples|\.ci|\.github)/[^`\s<>]*)`")
_LABEL = "rocky.classification"
NO_MODULES = {
    *(
        "rocky.toml",
        "rocky.seedHash",
        "rocky.maskDigest",
        "rocky.inputMasks",
        "rocky.owner",
        "rocky.declassified",
    ),
    *(_LABEL, f"{_LABEL}.street", f"{_LABEL}.COLUMN", f"{_LABEL}.COLUMN.street"),
}
"""A file, and properties of tables and columns."""


def tracked_texts() -> dict[str, str]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode:
        pytest.skip("not a git checkout")
    texts = {}
    for name in listed.stdout.splitlines():
        path = ROOT / name
        if path.is_file():
            data = path.read_bytes()
            if b"\0" not in data:
                texts[name] = data.decode(errors="replace")
    return texts


def test_no_tracked_file_names_a_machine_or_a_package_registry():
    found = [
        f"{name}:{number}: {line.strip()[:100]}"
        for name, text in tracked_texts().items()
        for number, line in enumerate(text.splitlines(), 1)
        if MACHINE_PATH.search(line) or REGISTRY_HOST.search(line)
    ]

    assert [] == found


def test_tests_that_ask_spark_lie_where_they_are_looked_for():
    marked = {name for name, text in tracked_texts().items() if f"mark.{'spark'}" in text}

    assert [] == [name for name in marked if not name.startswith("tests/spark/")]


def test_every_relative_link_in_the_pages_leads_somewhere():
    broken = []
    for name, text in tracked_texts().items():
        if not name.endswith(".md"):
            continue
        for target in LINK.findall(FENCE.sub("", text)):
            if re.match(r"[a-z]+:|#", target):
                continue
            if not ((ROOT / name).parent / target.partition("#")[0]).exists():
                broken.append(f"{name}: {target}")

    assert [] == broken


def anchors(text: str) -> set[str]:
    """What a code host lets links name in a page: its headings, in lower case without signs."""
    found: set[str] = set()
    for heading in re.findall(r"^#+ (.*)$", FENCE.sub("", text), re.MULTILINE):
        words = LINK.sub(lambda link: link.group()[1:].partition("]")[0], heading).strip().lower()
        name = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        again = sum(name == each or each.startswith(f"{name}-") for each in found)
        found.add(name if name not in found else f"{name}-{again}")
    return found


def test_every_link_to_a_heading_leads_to_one():
    pages = {ROOT / name: text for name, text in tracked_texts().items() if name.endswith(".md")}
    broken = []
    for page, text in pages.items():
        for target in LINK.findall(FENCE.sub("", text)):
            file, _, heading = target.partition("#")
            aim = (page.parent / file).resolve() if file else page
            if heading and ":" not in file and heading not in anchors(pages.get(aim, "")):
                broken.append(f"{page.relative_to(ROOT)}: {target}")

    assert [] == broken


def test_every_page_of_the_docs_can_be_reached_from_the_readme():
    seen: set[Path] = set()
    waiting = [ROOT / "README.md"]
    while waiting:
        page = waiting.pop()
        if page in seen or not page.exists():
            continue
        seen.add(page)
        targets = [link.partition("#")[0] for link in LINK.findall(FENCE.sub("", page.read_text()))]
        waiting += [
            (page.parent / target).resolve()
            for target in targets
            if target.endswith(".md") and ":" not in target
        ]
    pages = set((ROOT / "docs").rglob("*.md"))

    assert [] == sorted(page.relative_to(ROOT).as_posix() for page in pages - seen)


def is_module_or_name(dotted: str) -> bool:
    """Whether a dotted name is a module or package of ours, a public name, or a name in a module."""
    parts = dotted.split(".")[1:]
    if len(parts) == 1 and hasattr(rocky, parts[0]):
        return True
    path = ROOT / "src" / "rocky"
    for index, part in enumerate(parts):
        path /= part
        if path.is_dir():
            continue
        module = path.with_suffix(".py")
        return module.exists() and parts[index + 1 :] in ([], *([n] for n in names_in(module)))
    return True


def names_in(module: Path) -> set[str]:
    """What a module defines at its top."""
    nodes = ast.parse(module.read_text()).body
    defined = {node.name for node in nodes if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    targets = [node.target for node in nodes if isinstance(node, ast.AnnAssign)]
    targets += [target for node in nodes if isinstance(node, ast.Assign) for target in node.targets]
    return defined | {target.id for target in targets if isinstance(target, ast.Name)}


def test_every_module_and_path_that_a_page_names_exists():
    pages = {name: text for name, text in tracked_texts().items() if name.startswith(PAGES)}
    lost = [
        f"{name}: {found}"
        for name, text in pages.items()
        for found in NAMED_MODULE.findall(text)
        if found not in NO_MODULES and not is_module_or_name(found)
    ]
    lost += [
        f"{name}: {found}"
        for name, text in pages.items()
        for found in NAMED_PATH.findall(text)
        if not (ROOT / found.partition("::")[0]).exists()
    ]

    assert [] == lost


def test_the_index_of_decisions_has_every_page_under_its_title():
    folder = ROOT / "docs" / "decisions"
    titles = {page.name: page.read_text().partition("\n")[0] for page in folder.glob("0*.md")}
    listed = re.findall(r"^- \[(.*)\]\((.*)\)$", (folder / "README.md").read_text(), re.MULTILINE)

    assert [(title.removeprefix("# "), name) for name, title in sorted(titles.items())] == listed


def test_every_text_ends_with_a_newline():
    # What a run wrote is kept byte for byte.
    ours = {n: t for n, t in tracked_texts().items() if "/audit-sample/warehouse/" not in n}
    assert [] == [name for name, text in ours.items() if text and text[-1] != "\n"]
