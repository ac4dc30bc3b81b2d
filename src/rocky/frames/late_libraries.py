"""Libraries that PySpark imports and plans seldom need, loaded when they are first used.

They cost most of what importing PySpark costs. Until it is used such a library is a module that
knows its version, which PySpark compares, and no more. No value is of a class of a library that
nobody has loaded, so PySpark may ask about these classes and is answered with one that has no
values. A library that is asked for anything else is loaded, and is itself from then on.
"""

import sys
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any, Final

_DISTRIBUTIONS: Final = {
    "pandas": "pandas",
    "numpy": "numpy",
    "pyarrow": "pyarrow",
    "grpc": "grpcio",
    "grpc_status.rpc_status": "grpcio-status",
}
_CLASSES: Final = {
    "pandas": "DataFrame Index Series".split(),
    "numpy": "bool_ int8 int16 int32 int64 float32 float64 str_ generic ndarray".split(),
    "pyarrow": "RecordBatch Schema Table".split(),
    "grpc": "Call CallCredentials Channel RpcError StatusCode UnaryStreamClientInterceptor".split(),
}
"""What PySpark compares values with, or notes beside its parameters, before it has any."""
_TAKE_NAMES: Final = {
    "numpy": "pyspark.statcounter",
    "grpc": "pyspark.errors.exceptions.connect",
}
"""Who takes names out of a library as it is imported: one can do without, one hears no server."""
_CALLED_LATER: Final = {"pandas": ("pandas.api", "pandas.api.types")}
"""Modules of which PySpark takes functions as it is imported, to call them with values."""
_NOT_FOR_PLANS: Final = frozenset({"IPython"})
"""What PySpark would only draw with."""
_NEEDED_FOR: Final = ("pandas", "numpy", "pyarrow", "createDataFrame", "udf")
"""Words of code that will use them."""


def delay_libraries() -> None:
    """From now on, have the libraries loaded when they are used."""
    sys.meta_path.insert(0, _FINDER)


def end_delay() -> None:
    """Find modules as usual again; what is late by now stays so."""
    sys.meta_path.remove(_FINDER)


def load_for(texts: Iterable[str]) -> None:
    """Load the libraries that code will use, once for all that is forked from here."""
    if any(word in text for text in texts for word in _NEEDED_FOR):
        for name in ("numpy", "pyarrow", "pandas"):
            module = sys.modules.get(name)
            if isinstance(module, LateModule):
                module.load()


class LateModule(ModuleType):
    """A library that is not loaded yet, and becomes itself as soon as it is asked for more."""

    def __getattr__(self, name: str) -> Any:
        asker = sys._getframe(1).f_globals.get("__name__", "")  # noqa: SLF001 - no other way to it
        if asker.startswith("pyspark.") and name in _CLASSES.get(self.__name__, ()):
            return _NoValue
        if asker == _TAKE_NAMES.get(self.__name__):
            raise AttributeError(name)
        self.load()
        return getattr(self, name)

    def load(self) -> None:
        """Become the module."""
        real: ModuleSpec = self.__spec__.loader_state  # type: ignore[union-attr]
        assert real.loader is not None
        for name in _CALLED_LATER.get(self.__name__, ()):
            sys.modules.pop(name, None)
        self.__class__ = ModuleType  # type: ignore[assignment]
        self.__spec__ = real
        self.__loader__ = real.loader
        self.__package__ = real.parent
        if real.submodule_search_locations is not None:
            self.__path__ = real.submodule_search_locations
        real.loader.exec_module(self)


class _Functions(ModuleType):
    """A module of a late library, whose functions load it when they are called."""

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("__"):
            raise AttributeError(name)
        library, _, _ = self.__name__.partition(".")

        def called(*given: Any, **named: Any) -> Any:
            module = sys.modules[library]
            if isinstance(module, LateModule):
                module.load()
            return getattr(import_module(self.__name__), name)(*given, **named)

        return called


class _NoValue:
    """The class of no value."""

    UNKNOWN: Final = None
    """The status of an answer, which no server gives here."""


class _LateLoader(Loader):
    def exec_module(self, module: ModuleType) -> None:
        module.__version__ = version(_DISTRIBUTIONS[module.__name__])  # type: ignore[attr-defined]
        for name in _CALLED_LATER.get(module.__name__, ()):
            sys.modules[name] = _Functions(name)
        # Not before: Python looks at what a new module has.
        module.__class__ = LateModule


class _Finder(MetaPathFinder):
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname in _NOT_FOR_PLANS:
            raise ModuleNotFoundError(f"no `{fullname}` while plans are built", name=fullname)
        if fullname not in _DISTRIBUTIONS:
            return None
        real = PathFinder.find_spec(fullname, path, target)
        try:
            version(_DISTRIBUTIONS[fullname])
        except PackageNotFoundError:
            return None
        if real is None or real.origin is None or not real.origin.endswith(".py"):
            return None
        # Without a place for submodules: whoever wants one has the library loaded.
        return ModuleSpec(fullname, _LateLoader(), origin=real.origin, loader_state=real)


_FINDER: Final = _Finder()
