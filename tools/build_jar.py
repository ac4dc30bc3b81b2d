"""The jar of Rocky's classes for Spark, from the sources in `java/`.

    python tools/build_jar.py      write src/rocky/spark/jars/rocky-spark.jar

It is checked in, because whoever installs Rocky has a Java that runs and rarely one that compiles.
Building it takes a JDK 17, and Spark's own jars, which pyspark brings. The same sources give the
same bytes: files in order, without times, and not compressed. The manifest holds a hash of the
sources, so that a jar which is older than they are is found where nothing can be compiled.
"""

import shutil
import subprocess
import tempfile
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZIP_STORED, ZipFile, ZipInfo

from blake3 import blake3

ROOT = Path(__file__).parents[1]
SOURCES = ROOT / "java"
JAR = ROOT / "src" / "rocky" / "spark" / "jars" / "rocky-spark.jar"
RELEASE = "17"
_MANIFEST = "META-INF/MANIFEST.MF"


def hash_sources() -> str:
    """A hash of the names and texts of all sources."""
    hashed = blake3()
    for path in sorted(SOURCES.rglob("*.java")):
        text = path.read_bytes()
        hashed.update(f"{path.relative_to(SOURCES).as_posix()} {len(text)}\n".encode() + text)
    return hashed.hexdigest()


def find_compiler() -> str | None:
    """The compiler that gives the bytes of the jar, or None: another may order them otherwise."""
    program = shutil.which("javac")
    if program is None:
        return None
    said = subprocess.run([program, "-version"], capture_output=True, text=True, check=True)
    return program if f"{said.stdout}{said.stderr}".startswith(f"javac {RELEASE}.") else None


def build_jar(target: Path, compiler: str) -> None:
    """Compile the sources and write the jar."""
    spark = find_spec("pyspark")
    if spark is None or spark.origin is None:
        raise SystemExit("pyspark is not installed: Spark's jars are needed to compile against")
    jars = Path(spark.origin).parent / "jars"
    with tempfile.TemporaryDirectory() as folder:
        # Not the path lint: jars of Spark's name others in their manifests that it does without.
        subprocess.run(
            [compiler, "--release", RELEASE, "-proc:none", "-Xlint:all,-path", "-Werror",
             "-encoding", "UTF-8", "-d", folder, "-cp", f"{jars}/*",
             *(str(path) for path in sorted(SOURCES.rglob("*.java")))],
            check=True,
        )  # fmt: skip
        manifest = f"Manifest-Version: 1.0\r\nSources-BLAKE3: {hash_sources()[:32]}\r\n\r\n"
        entries = {_MANIFEST: manifest.encode()}
        for path in sorted(Path(folder).rglob("*.class")):
            entries[path.relative_to(folder).as_posix()] = path.read_bytes()
    target.parent.mkdir(parents=True, exist_ok=True)
    with ZipFile(target, "w", ZIP_STORED) as jar:
        for name, content in entries.items():
            jar.writestr(ZipInfo(name), content)


def named_sources(jar: Path) -> str:
    """The hash of the sources that a jar says it was made from."""
    with ZipFile(jar) as opened:
        lines = opened.read(_MANIFEST).decode().splitlines()
    return next(line.partition(": ")[2] for line in lines if line.startswith("Sources-BLAKE3"))


def main() -> None:
    compiler = find_compiler()
    if compiler is None:
        raise SystemExit(f"no `javac` of Java {RELEASE} on the path: install a JDK {RELEASE}")
    build_jar(JAR, compiler)
    print(f"{JAR.relative_to(ROOT)}: {JAR.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
