"""Named tests: `[test.NAME]` in `rocky.toml`, which sidecars and checks begin theirs from.

A test that says `use = "NAME"` has all that the named one says and its own keys besides, which win.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from rocky.diagnostics.suggestion import suggestion
from rocky.project.configuration.model import AssertionRecord
from rocky.project.toml.documents import Problem, Problems, ReadBy
from rocky.project.toml.records import INVALID, reader_for, wrong_type
from rocky.project.toml.variables import Keys

NO_TESTS: Final[Mapping[str, Mapping[str, Any]]] = {}
_QUIET: Final = {"type": "row_count_range", "min": 0}
"""What stands for a test that nobody knows, so that it is reported once."""


def _read_tests(value: Any, at: Keys, problems: Problems) -> Any:
    if not isinstance(value, dict):
        return wrong_type(
            'tables such as `[test.positive]` with `type = "..."`', value, at, problems
        )
    found: dict[str, Mapping[str, Any]] = {}
    for name, test in value.items():
        here = (*at, name)
        if reader_for(AssertionRecord)(test, here, problems) is INVALID:
            continue
        if "use" in test:
            said = "a named test does not begin from another"
            problems.append(Problem((*here, "use"), said, "say all of it here", on_key=True))
            continue
        found[name] = test
    return found


NamedTests = Annotated[Mapping[str, Mapping[str, Any]], ReadBy(_read_tests)]


def with_named_tests(tests: Any, named: Mapping[str, Any], at: Keys, problems: Problems) -> Any:
    """A list of tests, each with what the named one says that it begins from."""
    if not isinstance(tests, list):
        return tests
    return [_begun(test, named, (*at, index), problems) for index, test in enumerate(tests)]


def _begun(test: Any, named: Mapping[str, Any], at: Keys, problems: Problems) -> Any:
    wanted = test.get("use") if isinstance(test, dict) else None
    if not isinstance(wanted, str):
        return test
    shared = named.get(wanted)
    if not isinstance(shared, Mapping):
        hint = suggestion(wanted, named) or f"declare it in `rocky.toml`: `[test.{wanted}]`"
        problems.append(Problem((*at, "use"), f"there is no test `{wanted}`", hint))
        return {**_QUIET, "use": wanted}
    if "type" in test and test["type"] != shared.get("type"):
        said = f"`{wanted}` is a test of type `{shared.get('type')}`"
        problems.append(Problem((*at, "type"), said, "remove `type`, or `use`"))
        return {**_QUIET, "use": wanted}
    return {"name": wanted, **shared, **test}
