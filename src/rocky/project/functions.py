"""Functions that Spark does not ship, declared below `functions/`.

`functions/*.toml` holds `[[function]]` blocks, `functions/NAME.sql` one statement in Spark's own
syntax. A declaration that cannot be used is reported once; the function stays known, so that no
caller is told that there is none. The digest of a function covers its declaration, its code and the
functions that its body calls.
"""

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from blake3 import blake3

from rocky.canonical import ascii_json
from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.diagnostic import Span
from rocky.language.datatypes.parts import holds_kind
from rocky.language.datatypes.text import TypeSyntaxError, encode_type, parse_type
from rocky.language.datatypes.types import DataType, StructField
from rocky.language.declared_functions import CODE_KINDS, DeclaredFunction, FunctionParameter
from rocky.project.files import Report, child_path, read_text, scan_folders, show_text
from rocky.project.function_records import (
    NO_NAME,
    FunctionBlock,
    is_function_name,
    read_function_blocks,
)
from rocky.project.function_statements import (
    FunctionStatement,
    ParameterText,
    Piece,
    StatementFault,
    called_names,
    normal_text,
    parse_statement,
)
from rocky.project.toml.documents import Document, Problem, parse_document
from rocky.project.toml.parser import locate_keys

FOLDER: Final = "functions"
_NAME_DEPTH: Final = 3


@dataclass(frozen=True, slots=True)
class ProjectFunction:
    """A declared function and where its code is.

    `body_start` is the offset of the body in its file, None where the file writes it otherwise.
    `code` is the file of a Python module, relative to the project; `code_digest` is of the code
    alone, in Python or in a jar.
    """

    signature: DeclaredFunction
    description: str | None = None
    owner: str | None = None
    body_start: int | None = None
    module: str | None = None
    attribute: str | None = None
    code: str | None = None
    code_digest: bytes = b""
    java_class: str | None = None
    jar: str | None = None
    calls: frozenset[str] = frozenset()

    @property
    def name(self) -> str:
        return self.signature.name

    @property
    def key(self) -> str:
        return self.name.lower()


def load_functions(root: str, env: Mapping[str, str], report: Report) -> dict[str, ProjectFunction]:
    """The functions below `functions/`, by lower-case name; of two with one name, the first."""
    found: dict[str, ProjectFunction] = {}
    for folder in scan_folders(root, FOLDER, report):
        for name in folder.names:
            path = child_path(folder.path, name)
            for function in _read_file(root, path, env, report):
                first = found.setdefault(function.key, function)
                if first is not function:
                    report(_declared_twice(function.signature, first.signature))
    return _with_digests(found, report) if found else found


def _read_file(
    root: str, path: str, env: Mapping[str, str], report: Report
) -> Iterator[ProjectFunction]:
    if path.endswith(".toml"):
        read = read_text(root, path, report)
        document = parse_document(path, read[0], env, report) if read else None
        if document is None:
            yield from _recover(path, show_text(root, path))
            return
        for block in read_function_blocks(document, report):
            yield _from_block(root, block, report)
    elif path.lower().endswith(".sql"):
        read = read_text(root, path, report)
        if read is not None:
            yield _from_statement(path, read[0], report)


def _recover(path: str, text: str) -> Iterator[ProjectFunction]:
    """The functions that an unusable file seems to declare."""
    for keys, place in locate_keys(text).items():
        if len(keys) == _NAME_DEPTH and keys[0] == "function" and keys[2] == "name":
            name = text[place.value.start : place.value.end].strip("\"'")
            if name:
                yield ProjectFunction(_unusable(name, path, None))


def _unusable(name: str, path: str, place: Span | None) -> DeclaredFunction:
    return DeclaredFunction(name, "catalog", usable=False, path=path, place=place)


def _from_block(root: str, block: FunctionBlock, report: Report) -> ProjectFunction:
    signature = block.signature
    document = block.document
    function = ProjectFunction(
        signature,
        block.description,
        block.owner,
        _body_start(document, (*block.at, "body"), signature.body),
        block.module,
        block.attribute,
        java_class=block.java_class,
        jar=block.jar,
    )
    if not signature.usable:
        return function
    problem: Problem | None = None
    if signature.kind in CODE_KINDS:
        # Code is parsed: a project without Python functions shall not wait for that.
        from rocky.project.function_code import find_code  # noqa: PLC0415

        code = find_code(Path(root), block.module or "", block.attribute or "")
        if isinstance(code, Problem):
            problem = code._replace(keys=(*block.at, *code.keys))
        else:
            told = replace(signature, digest=code.digest, doubt=code.doubt)
            return replace(function, signature=told, code=code.path, code_digest=code.digest)
    elif block.jar is not None:
        digest = _jar_digest(root, block.jar)
        if isinstance(digest, bytes):
            told = replace(signature, digest=digest)
            return replace(function, signature=told, code_digest=digest)
        problem = digest._replace(keys=(*block.at, *digest.keys))
    if problem is not None:
        report(document.diagnose(problem))
        return replace(function, signature=replace(signature, usable=False))
    return function


def _jar_digest(root: str, jar: str) -> bytes | Problem:
    """The digest of a jar of the project; or what is wrong, at a key of the declaration."""
    try:
        path = Path(os.path.realpath(Path(root, jar)))
        if not path.is_relative_to(os.path.realpath(root)):
            message = f"the jar `{jar}` lies outside the project"
            return Problem(("jar",), message, "copy it into the project, and name that file")
        if not stat.S_ISREG(path.stat().st_mode):
            # A pipe would be waited for.
            return Problem(("jar",), f"the jar `{jar}` is not a file")
        return blake3().update_mmap(path).digest()
    except (OSError, ValueError) as failure:
        said = failure.strerror if isinstance(failure, OSError) else failure
        message = f"the jar `{jar}` cannot be read: {said}"
        return Problem(("jar",), message, "paths begin at the project's folder")


def _body_start(document: Document, keys: tuple[str | int, ...], body: str | None) -> int | None:
    """Where the text of a body begins in its file; None where it is written with escapes."""
    span = document.span_of(keys) if body else None
    if span is None or body is None:
        return None
    at = document.text.find(body, span.start, span.end)
    return at if at >= 0 else None


def _from_statement(path: str, text: str, report: Report) -> ProjectFunction:
    stem = path.rpartition("/")[2][: -len(".sql")]
    try:
        statement = parse_statement(text)
        _check_stem(stem, statement.name)
        signature = _signature(path, statement)
    except StatementFault as fault:
        report(Diagnostic(Code.UNUSABLE_FUNCTION, str(fault), fault.span, path, help=fault.help))
        return ProjectFunction(_unusable(stem, path, fault.span))
    return ProjectFunction(signature, statement.comment, body_start=statement.body.start)


def _check_stem(stem: str, name: Piece) -> None:
    if not is_function_name(name.text):
        raise StatementFault(NO_NAME.format(name.text), name.span, "give it another name")
    if name.text.lower() != stem.lower():
        raise StatementFault(
            f"the file declares `{name.text}` and is called `{stem}.sql`",
            name.span,
            f"call it `{name.text}.sql`: readers look for a function by its file",
        )


def _signature(path: str, statement: FunctionStatement) -> DeclaredFunction:
    parameters = tuple(
        FunctionParameter(
            each.name.text, _type(each.type), each.default.text if each.default else None
        )
        for each in statement.parameters
    )
    _check_names(statement.parameters, "parameter")
    for before, after in pairwise(statement.parameters):
        if before.default is not None and after.default is None:
            raise StatementFault(
                f"`{after.name.text}` needs a default, because `{before.name.text}` before it"
                " has one",
                after.name.span,
                "parameters with defaults come last",
            )
    columns = statement.columns
    if columns is not None:
        _check_names(columns, "column")
    return DeclaredFunction(
        statement.name.text,
        "sql",
        parameters,
        _type(statement.returns) if statement.returns else None,
        None
        if columns is None
        else tuple(StructField(each.name.text, _type(each.type), True) for each in columns),
        deterministic=statement.deterministic,
        body=statement.body.text,
        path=path,
        place=statement.name.span,
    )


def _type(piece: Piece) -> DataType:
    try:
        found = parse_type(piece.text)
    except TypeSyntaxError as failure:
        start = piece.start + min(failure.offset, max(len(piece.text) - 1, 0))
        raise StatementFault(failure.message, Span(start, piece.span.end)) from failure
    if holds_kind(found, "char", "varchar"):
        raise StatementFault(
            f"`{piece.text}` cannot be the type of a function", piece.span, "use `string`"
        )
    return found


def _check_names(named: tuple[ParameterText, ...], what: str) -> None:
    seen: set[str] = set()
    for each in named:
        if each.name.text.lower() in seen:
            message = f"{what} `{each.name.text}` is declared twice"
            raise StatementFault(message, each.name.span, "give each a name of its own")
        seen.add(each.name.text.lower())


def _declared_twice(function: DeclaredFunction, first: DeclaredFunction) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FUNCTION,
        f"function `{function.name}` is declared twice",
        function.place,
        function.path,
        labels=(Label(first.place, "first declared here", first.path),),
        help="keep one of the two",
    )


def _with_digests(
    functions: dict[str, ProjectFunction], report: Report
) -> dict[str, ProjectFunction]:
    """The functions with the digests of all that can change a result of theirs."""
    called = {
        key: sorted(_mentioned(each.signature) & functions.keys())
        for key, each in functions.items()
    }
    made: dict[str, ProjectFunction] = {}

    def visit(key: str, path: tuple[str, ...]) -> ProjectFunction:
        found = made.get(key)
        if found is not None:
            return found
        function = functions[key]
        own = _own_digest(function)
        calls: set[str] = set()
        for other in called[key]:
            if other in (*path, key):
                report(_calls_itself(function.signature, functions[other].signature))
                broken = replace(function.signature, usable=False, digest=own)
                made[key] = replace(function, signature=broken)
                return made[key]
            below = visit(other, (*path, key))
            own = blake3(own + below.signature.digest).digest()
            calls |= {other, *below.calls}
        signature = replace(function.signature, digest=own)
        made[key] = replace(function, signature=signature, calls=frozenset(calls))
        return made[key]

    return {key: visit(key, ()) for key in functions}


def _mentioned(function: DeclaredFunction) -> set[str]:
    texts = [function.body or "", *(each.default or "" for each in function.parameters)]
    return called_names(" ; ".join(texts)) if function.kind == "sql" else set()


def _calls_itself(function: DeclaredFunction, other: DeclaredFunction) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FUNCTION,
        f"function `{function.name}` calls itself"
        if other.name == function.name
        else f"functions `{function.name}` and `{other.name}` call each other",
        function.place,
        function.path,
        help="Spark has no recursive functions: write the expression out, or use a recursive CTE",
    )


def _own_digest(function: ProjectFunction) -> bytes:
    """A digest of the declaration, and of the code where there is any."""
    told = function.signature
    values: dict[str, Any] = {
        "name": function.key,
        "kind": told.kind,
        "parameters": [
            [each.name.lower(), encode_type(each.type), each.default, each.optional]
            for each in told.parameters
        ],
        "returns": encode_type(told.returns) if told.returns is not None else None,
        "columns": None
        if told.columns is None
        else [[each.name, encode_type(each.type), each.nullable] for each in told.columns],
        "nullable": told.nullable,
        "deterministic": told.deterministic,
        "aggregate": told.aggregate,
        "body": normal_text(told.body) if told.body is not None else None,
        "code": told.digest.hex(),
        "of": [function.module, function.attribute, function.java_class],
    }
    return blake3(ascii_json(values).encode()).digest()
