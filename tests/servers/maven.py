"""Jars from Maven Central for servers and Sparks of tests: fetched by `mvn` once, kept in the user's cache.

Only the longest tests ask for any. Where there is no Maven, or it cannot fetch, they are skipped and say so.
"""

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

_POM = """\
<project>
  <modelVersion>4.0.0</modelVersion>
  <groupId>tests</groupId><artifactId>jars</artifactId><version>1</version>
  <dependencies>{dependencies}</dependencies>
</project>
"""
_SECONDS = 600


def maven_jars(*packages: str, excluded: str = "") -> list[Path]:
    """The jars of packages (`group:artifact:version`, or with a classifier at the end) and of all that they need.

    `excluded` is a `group:artifact` that nothing of it shall bring.
    """
    mark = hashlib.sha256(" ".join((*packages, excluded)).encode()).hexdigest()[:12]
    # Not the cache of a test, which is gone after it.
    folder = Path.home() / ".cache" / "rocky-tests" / f"jars-{mark}"
    if not folder.is_dir():
        _fetch(folder, packages, excluded)
    return sorted(folder.glob("*.jar"))


def _fetch(folder: Path, packages: tuple[str, ...], excluded: str) -> None:
    maven = shutil.which("mvn")
    if maven is None:
        pytest.skip(f"needs Maven to fetch {', '.join(packages)}: apt-get install maven")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        pom, jars = Path(scratch, "pom.xml"), Path(scratch, "jars")
        described = "".join(_dependency(each, excluded) for each in packages)
        pom.write_text(_POM.format(dependencies=described))
        line = [maven, "-q", "-B", "-f", str(pom), "dependency:copy-dependencies"]
        line += ["-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
        done = subprocess.run(
            line, capture_output=True, text=True, check=False, timeout=_SECONDS, stdin=subprocess.DEVNULL
        )  # fmt: skip
        if done.returncode:
            said = next((each for each in done.stdout.splitlines() if "ERROR" in each), "")
            pytest.skip(f"Maven could not fetch {', '.join(packages)}: {said}")
        jars.rename(folder)


def _dependency(package: str, excluded: str) -> str:
    group, artifact, version, *classifier = package.split(":")
    texts = {"groupId": group, "artifactId": artifact, "version": version}
    # A jar that has everything in it brings nothing else.
    left_out = ["*", "*"] if classifier else excluded.split(":") if excluded else []
    if classifier:
        texts["classifier"] = classifier[0]
    lines = "".join(f"<{name}>{text}</{name}>" for name, text in texts.items())
    if left_out:
        lines += (
            f"<exclusions><exclusion><groupId>{left_out[0]}</groupId>"
            f"<artifactId>{left_out[1]}</artifactId></exclusion></exclusions>"
        )
    return f"<dependency>{lines}</dependency>"
