"""The environment has owners: everybody else is passed what they need of it."""

import re

from tests.architecture.sources import MODULES, PACKAGE, ROOT, Source, load_source

OWNERS = {
    "frames/session.py": "pyspark asks the environment whether its functions make plans",
    "project/git/program.py": "starts `git`, and passes on less of the environment than there is",
    "project/user_cache.py": "a command has one user, whose cache folder it says",
    "spark/settings.py": "pyspark reads the environment by itself, and a JVM inherits it",
}
WAYS_IN = ("cli/", "api/")
OF_OS = {
    f"os.{name}"
    for name in ("environ", "environb", "getenv", "getenvb", "putenv", "unsetenv", "getlogin")
}


def reads_environment(source: Source) -> bool:
    # `getpass` asks the environment for a name before it asks the system.
    return bool(OF_OS & (source.attributes | source.imports) or "getpass" in source.imports)


def test_only_the_ways_in_and_four_owners_read_the_environment():
    reading = {
        path.relative_to(PACKAGE).as_posix()
        for path in MODULES
        if reads_environment(load_source(path))
    }

    assert OWNERS.keys() == {name for name in reading if not name.startswith(WAYS_IN)}


def test_the_page_on_architecture_names_the_owners():
    page = (ROOT / "ARCHITECTURE.md").read_text()
    (rule,) = re.findall(r"^## Owners of effects\n(.*?)(?=^## )", page, re.MULTILINE | re.DOTALL)

    for name in OWNERS:
        assert f"`{name.removesuffix('.py').replace('/', '.')}`" in rule
