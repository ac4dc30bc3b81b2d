"""What must hold for every tracked file, and for the pages that point at each other."""

import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Whoever reads the repository has neither our machine nor our package mirror.
MACHINE_PATH = re.compile(r"(^|[^A-Za-z0-9_.:/-])/(home|root|tmp|work|farm|opt)/[a-zA-Z.]")
REGISTRY_HOST = re.compile(
    r"https?://[a-z0-9.-]*(python|npm|maven|debian|crates)[a-z0-9.-]*\.(org|com|net|io)/"
)
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^(```+).*?^\1\s*$", re.MULTILINE | re.DOTALL)


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
