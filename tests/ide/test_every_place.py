"""What must hold at every place of every text: no crash, and names that lead back to themselves."""

import re
from random import Random

import pytest

from rocky.diagnostics.diagnostic import Span
from rocky.ide.actions import code_actions
from rocky.ide.completion import complete
from rocky.ide.declaration import definition, definition_of
from rocky.ide.edits import Refused, edited_texts
from rocky.ide.folding import folds
from rocky.ide.hover import hover
from rocky.ide.inlay_hints import inlay_hints
from rocky.ide.outline import outline
from rocky.ide.references import references, references_of
from rocky.ide.rename import rename
from rocky.ide.semantic_tokens import semantic_tokens
from rocky.ide.signature_help import signature_help
from rocky.ide.symbols import Symbol, first_word, symbols_in
from rocky.ide.view import OpenFile, Place, View
from rocky.language.datatypes.text import parse_schema
from tests.corpus.questions import questions, shop_tables
from tests.ide.projects import PLAYGROUND, compile_with, playground, view_of, write

WORD = re.compile(r"[A-Za-z_]\w*")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory) -> View:
    """A project whose sources are the tables of the corpus."""
    blocks = []
    for name, ddl in shop_tables().items():
        columns = ",\n".join(
            f'  {{ name = "{each.name}", type = "{each.type}", nullable = {str(each.nullable).lower()} }}'
            for each in parse_schema(ddl)
        )
        blocks.append(f'[[source]]\nname = "{name}"\ncolumns = [\n{columns}\n]\n')
    files = {
        "rocky.toml": "",
        "sources/shop.toml": "\n".join(blocks),
        "models/any.sql": "SELECT 1 AS one\n",
    }
    return view_of(write(tmp_path_factory.mktemp("corpus"), files))


def files_of(view: View) -> list[OpenFile]:
    project = view.project
    paths = [*view.models, project.config_path]
    paths += [model.settings_path for model in view.models.values() if model.settings_path]
    paths += [each.path for each in project.contracts.values()]
    paths += [each.file for each in project.sources.values()]
    paths += [each.path for each in project.macros.values()]
    paths += [each.path for each in project.seeds.values()]
    return [view.open(path) for path in dict.fromkeys(paths)]


def ask_everything(file: OpenFile, offset: int) -> None:
    hover(file, offset)
    complete(file, offset)
    signature_help(file, offset)
    code_actions(file, Span(offset, offset))


def names_lead_back(file: OpenFile) -> list[str]:
    """The names of a file that are not among the references of what they mean."""
    lost = []
    named: dict[Symbol, tuple[Place, ...]] = {}
    for found in symbols_in(file):
        place = Place(file.path, found.span)
        if found.symbol not in named:
            for each in definition_of(file.view, found.symbol):
                assert 0 <= each.span.start <= each.span.end
            named[found.symbol] = references_of(file.view, found.symbol, file)
        if place not in named[found.symbol]:
            lost.append(f"{file.path}: {file.text[slice(*found.span)]} at {found.span.start}")
    return lost


@pytest.mark.slow
def test_in_every_query_of_the_corpus_each_name_can_be_asked_and_leads_back_to_itself(
    corpus, sample
):
    for question in sample(questions()):
        file = corpus.open("models/any.sql", question.sql)
        tokens = semantic_tokens(file)
        ends = [each.span.end for each in tokens]
        assert all(end <= each.span.start for end, each in zip(ends, tokens[1:], strict=False))
        outline(file), folds(file), inlay_hints(file)
        for word in WORD.finditer(question.sql):
            hover(file, word.start())
            definition(file, word.start())
        assert [] == names_lead_back(file), question.id


@pytest.mark.slow
def test_half_of_a_query_can_be_completed_anywhere_without_a_crash(corpus, sample):
    random = Random(7)
    for question in sample(questions()):
        cut = random.randrange(len(question.sql) + 1)
        rest = random.randrange(cut, len(question.sql) + 1)
        file = corpus.open("models/any.sql", question.sql[:cut] + question.sql[rest:])

        ask_everything(file, cut)


def test_every_name_of_a_small_shop_leads_back_to_itself(view):
    assert [] == [lost for file in files_of(view) for lost in names_lead_back(file)]


@pytest.mark.slow
def test_every_place_of_the_playground_can_be_asked_anything():
    view = playground()
    for file in files_of(view):
        for word in WORD.finditer(file.text):
            ask_everything(file, word.end())
            definition(file, word.start())
            references(file, word.start())
        assert [] == names_lead_back(file)


@pytest.mark.slow
def test_any_text_in_any_file_can_be_asked_anything(view):
    random = Random(11)
    pieces = ["SELECT", " ", "(", ")", "'", '"', "`", "FROM", "\n", "[", "]", "=", "orders", ".", "@",
              "@net(", ",", "--", "/*", "{", "}", "---toml\n", "|", "\\", "é", "😀", "o", "1"]  # fmt: skip
    for file in files_of(view):
        for _ in range(6):
            text = "".join(random.choices(pieces, k=random.randrange(25)))
            changed = view.open(file.path, text)
            for offset in range(0, len(text) + 1, 3):
                ask_everything(changed, offset)
            outline(changed), folds(changed), inlay_hints(changed), semantic_tokens(changed)


def columns_to_rename(view: View) -> list[Symbol]:
    found = []
    for key in view.compilation.models:
        columns = view.compilation.models[key].columns
        found += [Symbol("column", key, each.name.lower()) for each in columns if each.span]
    return found


@pytest.mark.slow
def test_a_column_of_the_playground_renamed_and_renamed_back_gives_the_same_texts(tmp_path, sample):
    view = playground()
    done = 0
    for symbol in sample(columns_to_rename(view)):
        if round_trip(view, symbol, tmp_path):
            done += 1

    assert done


@pytest.mark.slow
def test_a_model_of_the_playground_renamed_and_renamed_back_gives_the_same_texts(tmp_path, sample):
    view = playground()
    for key in sample(list(view.project.models)):
        check = compile_with(PLAYGROUND, tmp_path)
        model = view.project.models[key]
        new = f"{key}_renamed"
        change = rename(view.open(model.path), first_word(view.open(model.path)).start, new, check)
        assert not isinstance(change, Refused), f"{key}: {change}"
        texts = edited_texts(view, change)
        after = View(check(texts))
        moved = after.project.models[new]
        start = first_word(after.open(moved.path)).start
        again = rename(
            after.open(moved.path), start, key, compile_with(after.project.root, tmp_path)
        )
        assert not isinstance(again, Refused), f"{key}: {again}"
        restored = {path: text for path, text in edited_texts(after, again).items() if text}
        touched = [path for path in texts if (PLAYGROUND / path).exists()]
        assert {path: view.text_of(path) for path in touched} == restored


def round_trip(view: View, symbol: Symbol, scratch) -> bool:
    """Whether a column could be renamed; that renaming back restores all texts is asserted."""
    place = a_name_of(view, symbol)
    if place is None:
        return False
    new = f"{symbol.column}_renamed"
    check = compile_with(PLAYGROUND, scratch)
    change = rename(view.open(place.path), place.span.start, new, check)
    if isinstance(change, Refused):
        # A key of USING has one name for two columns.
        assert "side of the join has no column" in change.reason, symbol
        return False
    texts = edited_texts(view, change)
    after = View(check(texts))
    back = a_name_of(after, Symbol("column", symbol.name, new))
    assert back is not None
    root = after.project.root
    old = view.compilation.models[symbol.name].column(symbol.column)
    again = rename(after.open(back.path), back.span.start, old.name, compile_with(root, scratch))
    assert not isinstance(again, Refused), f"{symbol}: {again}"
    restored = edited_texts(after, again)
    assert {path: view.text_of(path) for path in texts} == restored
    return True


def a_name_of(view: View, symbol: Symbol) -> Place | None:
    """A place at which a column is asked for by its own name."""
    for place in references_of(view, symbol):
        file = view.open(place.path)
        if any(each.symbol == symbol and each.span == place.span for each in symbols_in(file)):
            return place
    return None
