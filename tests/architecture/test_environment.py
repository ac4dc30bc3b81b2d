"""The environment has owners: everybody else is passed what they need of it."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "rocky"
OWNERS = {
    "git/program.py": "starts `git`, and passes on less of the environment than there is",
    "spark/process.py": "pyspark reads the environment by itself, and a JVM inherits it",
}
WAYS_IN = ("cli/", "api/")
OF_OS = {"environ", "environb", "getenv", "getenvb", "putenv", "unsetenv", "getlogin"}


def reads_environment(text: str) -> bool:
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Attribute(value=ast.Name(id="os"), attr=attr) if attr in OF_OS:
                return True
            case ast.ImportFrom(module="os", names=names) if OF_OS & {each.name for each in names}:
                return True
            # It asks the environment for a name before it asks the system.
            case ast.Import(names=names) if any(each.name == "getpass" for each in names):
                return True
            case ast.ImportFrom(module="getpass"):
                return True
    return False


def test_only_the_ways_in_and_two_owners_read_the_environment():
    reading = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        if reads_environment(path.read_text())
    }

    assert OWNERS.keys() == {name for name in reading if not name.startswith(WAYS_IN)}


def test_the_page_on_architecture_names_the_owners():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    (rule,) = re.findall(r"^## Owners of effects\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)

    for name in OWNERS:
        assert f"`{name.removesuffix('.py').replace('/', '.')}`" in rule
