"""Contracts: what a model promises its readers (`NAME.contract.toml`).

A contract lives in `contracts/` or beside its model. Only reading is here; the promises
are judged over the typed model.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from rocky.diagnostics import Code, Diagnostic, Label
from rocky.diagnostics.codes import severity_of
from rocky.diagnostics.diagnostic import Span
from rocky.diagnostics.suggestion import suggestion
from rocky.language.datatypes.types import UNKNOWN, DataType
from rocky.project.columns import TypeText
from rocky.project.configuration.classifications import TagNames
from rocky.project.files import Report, child_path, read_text, scan_folders
from rocky.project.models import ModelFile
from rocky.project.toml.documents import Document, Problem, Problems, parse_document
from rocky.project.toml.records import INVALID, read_record, reader_for
from rocky.project.toml.variables import Keys, written

_FOLDER: Final = "contracts"
_SUFFIX: Final = ".contract.toml"


@dataclass(frozen=True, slots=True)
class ContractColumn:
    """A promised column; None leaves that part open. One that is `optional` may be absent.

    The spans are those in the contract's file, looked up when a finding needs one.
    """

    name: str
    type: DataType | None
    nullable: bool | None
    description: str | None
    document: Document
    index: int
    optional: bool = False
    classification: tuple[str, ...] | None = None

    @property
    def span(self) -> Span | None:
        return self._span_of("name")

    @property
    def type_span(self) -> Span | None:
        return self._span_of("type")

    @property
    def nullable_span(self) -> Span | None:
        return self._span_of("nullable")

    @property
    def classification_span(self) -> Span | None:
        return self._span_of("classification")

    def _span_of(self, key: str) -> Span | None:
        """The value of a key of this column; None when it does not have the key."""
        if key not in self.document.data["columns"][self.index]:
            return None
        return self.document.span_of(("columns", self.index, key))


@dataclass(frozen=True, slots=True)
class ContractRule:
    """A column named in `required` or `protected`. Its place is `known` or looked up."""

    column: str
    known: Span | None = None
    document: Document | None = None
    keys: Keys = ()

    @property
    def span(self) -> Span | None:
        return self.document.span_of(self.keys) if self.document else self.known


@dataclass(frozen=True, slots=True)
class Contract:
    """The promises about one model. `strict` allows no column that is not listed."""

    model: str
    document: Document
    columns: tuple[ContractColumn, ...]
    required: tuple[ContractRule, ...] = ()
    protected: tuple[ContractRule, ...] = ()
    no_new_nullable: bool = False
    strict: bool = False

    @property
    def path(self) -> str:
        return self.document.path

    @property
    def no_new_nullable_span(self) -> Span | None:
        return self.document.span_of(("rules", "no_new_nullable"))

    @property
    def strict_span(self) -> Span | None:
        return self.document.span_of(("rules", "strict"))


class PromisedColumn(NamedTuple):
    """A column the model must have, unless it is `optional`.

    A key that is left out promises nothing about its part.
    """

    name: str
    type: TypeText | None = None
    nullable: bool | None = None
    description: str | None = None
    optional: bool = False
    classification: TagNames | None = None


class ContractRules(NamedTuple):
    """Rules over all columns."""

    required: tuple[str, ...] = ()
    protected: tuple[str, ...] = ()
    no_new_nullable: bool = False
    strict: bool = False


class ContractRecord(NamedTuple):
    columns: tuple[Any, ...] = ()
    rules: ContractRules = ContractRules()


def load_contracts(
    root: str,
    beside: Sequence[tuple[str, ModelFile | None]],
    models: Mapping[str, ModelFile],
    env: Mapping[str, str],
    report: Report,
) -> dict[str, Contract]:
    """The contracts of the models, by lower-case model name; of two for one model, the first.

    `beside` are the contract files found among the models, with the model of their stem.
    """
    contracts: dict[str, Contract] = {}
    for path, neighbour in [*_contract_folder(root, report), *beside]:
        stem = path.rsplit("/", 1)[-1].removesuffix(_SUFFIX)
        model = neighbour or models.get(stem.lower())
        if model is None:
            report(_without_model(path, stem, models))
            continue
        read = read_text(root, path, report)
        document = parse_document(path, read[0], env, report, model=model.name) if read else None
        if document is None:
            continue
        contract = read_contract(document, model.name, report)
        first = contracts.setdefault(model.key, contract)
        if first is not contract:
            report(_promised_twice(contract, first))
    return contracts


def name_models(
    found: Iterable[Diagnostic], models: Mapping[str, ModelFile]
) -> Iterator[Diagnostic]:
    """Findings, those about files of contracts with the models that these are for.

    A file that could not be read, or that is none, is known by its name alone.
    """
    for each in found:
        path = each.path or ""
        if each.model is not None or not path.endswith(".toml"):
            yield each
            continue
        model = None
        if path.endswith(_SUFFIX) or path.startswith(f"{_FOLDER}/"):
            model = _model_of(path, models)
        yield each if model is None else replace(each, model=model.name)


def _model_of(path: str, models: Mapping[str, ModelFile]) -> ModelFile | None:
    """The model beside a contract, or the one that has its name."""
    stem = path.removesuffix(".toml").removesuffix(".contract")
    beside = (each for each in models.values() if each.path.rpartition(".")[0] == stem)
    return next(beside, None) or models.get(stem.rpartition("/")[2].lower())


def _contract_folder(root: str, report: Report) -> Iterator[tuple[str, None]]:
    for folder in scan_folders(root, _FOLDER, report):
        for name in folder.names:
            path = child_path(folder.path, name)
            if name.endswith(_SUFFIX):
                yield path, None
            elif name.endswith(".toml"):
                message = f"`{path}` is not read as a contract"
                hint = f"name it `{name[:-5]}{_SUFFIX}`"
                report(Diagnostic(Code.UNUSABLE_FILE, message, None, path, help=hint))


def _without_model(path: str, stem: str, models: Mapping[str, ModelFile]) -> Diagnostic:
    return Diagnostic(
        Code.CONTRACT_WITHOUT_MODEL,
        f"the contract is for model `{stem}`, which does not exist",
        None,
        path,
        severity_of(Code.CONTRACT_WITHOUT_MODEL),
        help=suggestion(stem, [model.name for model in models.values()])
        or "rename the contract after its model, or remove it",
    )


def _promised_twice(contract: Contract, first: Contract) -> Diagnostic:
    return Diagnostic(
        Code.UNUSABLE_FILE,
        f"model `{contract.model}` has two contracts",
        None,
        contract.path,
        labels=(Label(None, "this one is used", first.path),),
        help="keep one of the two",
        model=contract.model,
    )


def read_contract(document: Document, model: str, report: Report) -> Contract:
    """The contract in a document; what is wrong with it is reported, the rest holds."""
    problems: Problems = []
    record = read_record(ContractRecord, document.data, (), problems) or ContractRecord()
    columns = _read_columns(record.columns, document, problems)
    rules = record.rules
    _refuse_contradictions(columns, rules, problems)
    for problem in problems:
        report(document.diagnose(problem, model=model))
    return Contract(
        model,
        document,
        columns,
        _read_rules("required", rules.required, document),
        _read_rules("protected", rules.protected, document),
        rules.no_new_nullable,
        rules.strict,
    )


def _read_columns(
    records: tuple[Any, ...], document: Document, problems: Problems
) -> tuple[ContractColumn, ...]:
    columns: list[ContractColumn] = []
    seen: set[str] = set()
    for index, value in enumerate(records):
        at = ("columns", index)
        before = len(problems)
        record = reader_for(PromisedColumn)(value, at, problems)
        if record is INVALID:
            continue
        if record.name.lower() in seen:
            message = f"column `{written(record.name)}` is promised twice"
            problems.append(Problem((*at, "name"), message))
            continue
        seen.add(record.name.lower())
        unreadable = "type" in value and record.type is None and len(problems) > before
        columns.append(
            ContractColumn(
                record.name,
                UNKNOWN if unreadable else record.type,
                record.nullable,
                record.description,
                document,
                index,
                record.optional,
                record.classification,
            )
        )
    return tuple(columns)


def _refuse_contradictions(
    columns: Sequence[ContractColumn], rules: ContractRules, problems: Problems
) -> None:
    """A column that readers need cannot be one that may be absent."""
    needed = {name.lower(): "protected" for name in rules.protected}
    needed |= {name.lower(): "required" for name in rules.required}
    for column in columns:
        rule = needed.get(column.name.lower())
        if column.optional and rule is not None:
            message = f"column `{written(column.name)}` is optional and in `{rule}`"
            keys = ("columns", column.index, "optional")
            problems.append(Problem(keys, message, "keep one of the two"))


def _read_rules(key: str, names: tuple[str, ...], document: Document) -> tuple[ContractRule, ...]:
    return tuple(
        ContractRule(name, None, document, ("rules", key, index))
        for index, name in enumerate(names)
    )
