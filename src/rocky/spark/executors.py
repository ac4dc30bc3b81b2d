"""Executors: a function of ours mapped over texts where the data is, and the libraries it needs.

The function travels by value, with all that it uses of its own package, so executors need the
libraries it imports but not Rocky. Those that they lack are sent after it, as this machine has
them: Spark runs Python functions only under the driver's version of Python, so what is compiled
fits, unless the executors are machines of another kind. Where nothing helps, or they have no such
Python, this machine does the work itself, which is slower and is told.
"""

import hashlib
import importlib
import importlib.metadata
import pickle
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path, PurePosixPath
from threading import Lock
from types import ModuleType
from typing import Any, Final, TypeVar

from pyspark import cloudpickle
from pyspark.sql import functions
from pyspark.sql.types import BinaryType

from rocky.spark.connection import is_classic
from rocky.spark.failures import SPARK_ERRORS, classify_failure

Answer = TypeVar("Answer")
# With what these import themselves.
LIBRARIES: Final = ("blake3", "obstore", "typing_extensions")
_NO_PYTHON: Final = re.compile(
    r"PYTHON_VERSION_MISMATCH|Cannot run program|Error from python worker"
)
_PROGRAM: Final = re.compile(r'Cannot run program "(?P<path>[^"]+)"')
_THREADS: Final = 8
# Which modules are pickled by value is known to the process, not to a call.
_pickling: Final = Lock()


class Executors:
    """The executors of a session. `notes` are what whoever started the run should know of them."""

    def __init__(self, session: Any) -> None:
        self.notes: list[str] = []
        self._session = session
        self._sent: str | None = None
        self._sending = Lock()

    def map(self, function: Callable[[str], Answer], texts: Sequence[str]) -> list[Answer]:
        """The function's answers in the order of the texts, each computed by an executor."""
        if not texts:
            return []
        if not self.notes:
            answers = self._try(function, texts)
            if not isinstance(answers, str):
                return answers
            self._give_up(answers)
        with ThreadPoolExecutor(_THREADS, "rocky-hash") as pool:
            return list(pool.map(function, texts))

    def _try(self, function: Callable[[str], Answer], texts: Sequence[str]) -> list[Answer] | str:
        """Answers, or why no executor can give them."""
        try:
            answers = self._ask(function, texts)
            if isinstance(answers, str):
                self._send()
                answers = self._ask(function, texts)
        except SPARK_ERRORS as error:
            if not _NO_PYTHON.search(str(error)):
                raise
            named = _PROGRAM.search(str(error))
            said = classify_failure(error).message
            return f"`{named['path']}` would not start: {said}" if named is not None else said
        return answers

    def _ask(self, function: Callable[[str], Answer], texts: Sequence[str]) -> list[Answer] | str:
        """Answers, or what an executor could not import."""
        packed, given, folder = pack(function), list(texts), self._sent

        def answer(number: int) -> bytes:
            # Runs on an executor, where this module cannot be imported.
            try:
                wanted = pickle.loads(packed)
            except ImportError as missing:
                if folder is None:
                    return pickle.dumps((str(missing), None))
                from pyspark import SparkFiles  # noqa: PLC0415 - the executor's, not the driver's

                sys.path.append(SparkFiles.get(folder))
                importlib.invalidate_caches()
                try:
                    wanted = pickle.loads(packed)
                except ImportError as unfit:
                    return pickle.dumps((str(unfit), None))
            return pickle.dumps(("", wanted(given[number])))

        of_number = functions.udf(answer, BinaryType(), useArrow=False)
        # As many tasks as texts: a file may be large, and executors should share the work.
        tasks = self._session.range(0, len(given), 1, len(given))
        # Not through a limit, which would try one task first and more when that is not enough.
        rows = tasks.select("id", of_number("id")).collect()
        answers = {row[0]: pickle.loads(bytes(row[1])) for row in rows}
        lacking = next((lacked for lacked, _ in answers.values() if lacked), None)
        return lacking or [answers[number][1] for number in range(len(given))]

    def _send(self) -> None:
        """Send the libraries to the executors, once."""
        with self._sending:
            if self._sent is not None:
                return
            if is_classic(self._session):
                context = self._session.sparkContext
                # Executors fetch it from there when their next task begins; removed with Spark.
                archive = write_libraries(Path(context._temp_dir))  # noqa: SLF001 - has no other name
                context.addArchive(f"{archive}#{archive.stem}")
            else:
                with tempfile.TemporaryDirectory(prefix="rocky-libraries-") as folder:
                    archive = write_libraries(Path(folder))
                    self._session.addArtifacts(f"{archive}#{archive.stem}", archive=True)
            self._sent = archive.stem

    def _give_up(self, why: str) -> None:
        version = f"{sys.version_info.major}.{sys.version_info.minor}"
        note = (
            f"Spark's executors cannot hash files ({why}): this machine reads and hashes every file"
            f" that they write; give them a Python {version}, which `spark.pyspark.python` in"
            " `[adapter.conf]` names, and where they are machines of another kind `blake3` and"
            " `obstore` for it"
        )
        if note not in self.notes:
            self.notes.append(note)


def write_libraries(folder: Path) -> Path:
    """An archive of the libraries as they are installed here, named by their versions."""
    found = [importlib.metadata.distribution(name) for name in LIBRARIES]
    versions = " ".join(f"{each.name} {each.version}" for each in found)
    mark = hashlib.sha256(f"{versions} {sys.version} {sys.platform}".encode()).hexdigest()[:12]
    archive = folder / f"rocky-libraries-{mark}.zip"
    if archive.exists():
        # Executors may be fetching it.
        return archive
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as opened:
        for distribution in found:
            for path, file in _code_of(distribution):
                opened.write(file, path)
    return archive


def _code_of(distribution: importlib.metadata.Distribution) -> Iterator[tuple[str, Path]]:
    """What Python imports of a distribution, by its path below the folder of packages."""
    for each in distribution.files or ():
        path = PurePosixPath(each)
        if path.suffix in (".py", ".so", ".pyd", ".dylib") and ".." not in path.parts:
            yield str(path), Path(str(distribution.locate_file(each)))


def pack(function: Callable[[str], Any]) -> bytes:
    """The function as bytes that need no Rocky to be read."""
    package = _package_of(function)
    with _pickling:
        cloudpickle.register_pickle_by_value(package)
        try:
            return cloudpickle.dumps(function)
        finally:
            cloudpickle.unregister_pickle_by_value(package)


def _package_of(function: Any) -> ModuleType:
    """The outermost package of a function, or of the class of an object that can be called."""
    while isinstance(function, partial):
        function = function.func
    return sys.modules[function.__module__.partition(".")[0]]
