"""Declared functions, checked: bodies bound with the types of their parameters, names, defaults.

Binding brings the parser library with it, so what was found is remembered until a declaration
changes. Findings stand in the files of `functions/`, and not in the models that call them.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from blake3 import blake3
from msgspec.msgpack import Decoder

from rocky.analysis.compilation import unpack_diagnostic
from rocky.analysis.names import Names
from rocky.diagnostics import Code, Diagnostic
from rocky.diagnostics.diagnostic import Span
from rocky.project import Project
from rocky.project.cache import load_values, save_values
from rocky.project.functions import ProjectFunction

FUNCTIONS: Final = "functions.bin"
_FOUND: Final = Decoder(dict[str, list[tuple[Any, ...]]])


def check_functions(project: Project, names: Names, stamp: bytes | None) -> list[Diagnostic]:
    """What is wrong with the declared functions. `stamp` is the cache's, None for none."""
    if not project.functions:
        return []
    key = _key(project)
    known = load_values(project.root, FUNCTIONS, stamp, _FOUND) if stamp else {}
    if key not in known:
        # Nobody pays for the binder who has changed no function.
        from rocky.compiler.model_records import pack_diagnostic  # noqa: PLC0415

        known = {key: [pack_diagnostic(each) for each in _check(project, names)]}
        if stamp:
            save_values(project.root, FUNCTIONS, stamp, known)
    return [unpack_diagnostic(each) for each in known[key]]


def _key(project: Project) -> str:
    """A digest of all declarations, with their places."""
    told: list[str] = [project.config.compile.undeclared]
    for each in project.functions.values():
        signature = each.signature
        told.append(repr((signature.digest, signature.usable, signature.path, signature.place)))
        told.append(repr((each.body_start, signature.body)))
    return blake3("\n".join(told).encode("utf-8", "surrogatepass")).hexdigest()


def _check(project: Project, names: Names) -> Iterator[Diagnostic]:
    # They bring the parser library and the function catalogue with them.
    from rocky.compiler.model_binder import ModelTables  # noqa: PLC0415
    from rocky.compiler.validity import Schemas  # noqa: PLC0415
    from rocky.language.binder.function_bodies import bind_body, bind_default  # noqa: PLC0415

    tables = ModelTables("", names, Schemas({}, {}))
    for function in project.functions.values():
        signature = function.signature
        if not signature.usable:
            continue
        shadowed = _shadowed(function)
        if shadowed is not None:
            yield shadowed
            continue
        if signature.kind != "sql":
            continue
        for parameter in signature.parameters:
            if parameter.default is not None:
                found = bind_default(parameter, tables)[1].diagnostics
                for each in found:
                    yield replace(each, span=signature.place, path=signature.path)
        nullable = (True,) * len(signature.parameters)
        for each in bind_body(signature, nullable, tables).diagnostics:
            yield _placed(each, function)


def lint_functions(project: Project, names: Names, targets: Sequence[str]) -> Iterator[Diagnostic]:
    """What the bodies of SQL functions use and other engines lack, or read otherwise."""
    wanted = [
        each
        for each in project.functions.values()
        if each.signature.kind == "sql" and each.signature.usable
    ]
    if not wanted:
        return
    # As for `_check`.
    from rocky.analysis.lints.portability import lint_body  # noqa: PLC0415
    from rocky.compiler.model_binder import ModelTables  # noqa: PLC0415
    from rocky.compiler.validity import Schemas  # noqa: PLC0415
    from rocky.language.binder.function_bodies import note_body  # noqa: PLC0415
    from rocky.language.binder.usage import find_uses  # noqa: PLC0415

    tables = ModelTables("", names, Schemas({}, {}))
    allowed = {name.lower() for name in project.config.portability.allow}
    for function in wanted:
        noted = note_body(function.signature, tables)
        if noted is not None:
            parsed, binding, before = noted
            uses = [
                each._replace(start=each.start - before, end=each.end - before)
                for each in find_uses(parsed, binding)
                if each.start >= before
            ]
            yield from lint_body(function, uses, targets, allowed)


def _shadowed(function: ProjectFunction) -> Diagnostic | None:
    """The report for a name that Spark has a function of its own for: that one would be called."""
    from rocky.language.binder.expressions.calls import call_kind  # noqa: PLC0415 - as above
    from rocky.language.functions.generators import GENERATORS  # noqa: PLC0415
    from rocky.language.functions.special import SPECIAL  # noqa: PLC0415

    key = function.key
    if "." in key or not (call_kind(key) or key in SPECIAL or key in GENERATORS):
        return None
    return Diagnostic(
        Code.UNUSABLE_FUNCTION,
        f"Spark has a function `{function.key}` of its own, which would be called instead",
        function.signature.place,
        function.signature.path,
        help="give it another name",
    )


def _placed(found: Diagnostic, function: ProjectFunction) -> Diagnostic:
    """A finding of a body in its file; at the name where the body is written with escapes."""
    start = function.body_start
    span = function.signature.place
    if start is not None and found.span is not None:
        span = Span(found.span.start + start, found.span.end + start)
    return replace(found, span=span, path=function.signature.path)
