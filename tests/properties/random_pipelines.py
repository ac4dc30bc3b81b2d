"""Random `.rocky` texts: every construct of the language, in any layout, with comments anywhere.

They parse; whether their columns exist is nobody's business here.
"""

from hypothesis import strategies as st

NAMES = st.sampled_from(("a", "b", "net", "order", "s.qty", "t.city", "`odd name`", "current_date"))
PLAIN = st.sampled_from(("a", "b", "net", "`odd name`", "interval", "Total"))
TABLES = st.sampled_from(("sales", "lake.shop.sales", "`my table`"))
LITERALS = st.sampled_from(
    ("1", "1_000", "2.5", "1e3", "'x'", '"it\'s"', "'-- no comment'", "'a\\b'", "true", "null",
     "@2025-01-31", "@2025-01-31T10:00:00Z", "interval 7 days", "@start_date", "@var(low, 1)")
)  # fmt: skip
GAPS = st.sampled_from((" ", "  ", "\n", "\n\n\n", "\t", " -- why\n", "\n-- alone\n", "\n\n -- apart\n\n", "\r\n", " --\n"))  # fmt: skip


def words(*parts: "st.SearchStrategy[list[str]] | str") -> "st.SearchStrategy[list[str]]":
    made = [st.just([each]) if isinstance(each, str) else each for each in parts]
    return st.tuples(*made).map(lambda found: [word for each in found for word in each])


def one(strategy: "st.SearchStrategy[str]") -> "st.SearchStrategy[list[str]]":
    return strategy.map(lambda text: [text])


def listed(item: "st.SearchStrategy[list[str]]", most: int = 3) -> "st.SearchStrategy[list[str]]":
    def join(found: list[list[str]]) -> list[str]:
        made = list(found[0])
        for each in found[1:]:
            made += [",", *each]
        return made

    return st.lists(item, min_size=1, max_size=most).map(join)


def compound(inner: "st.SearchStrategy[list[str]]") -> "st.SearchStrategy[list[str]]":
    grouped = words("(", inner, ")")
    arm = st.one_of(
        words(">", grouped, "=>", inner), words(grouped, "=>", inner), words("null", "=>", inner),
        words("in", "(", listed(inner), ")", "=>", inner), words("!=", "1", "=>", inner),
    )  # fmt: skip
    window = st.one_of(
        words("partition", listed(grouped), ",", "sort", "-", grouped, ",", "rows", "unbounded", "..", "current"),
        words("sort", grouped, "desc", "nulls", "last"), words("partition", listed(grouped)), words(),
    )  # fmt: skip
    operator = one(st.sampled_from(("+", "-", "*", "/", "%", "||", "and", "or")))
    compare = one(st.sampled_from(("==", "!=", "<", ">=")))
    return st.one_of(
        grouped, words("-", grouped), words("-", "-", grouped), words("not", grouped), words(grouped, operator, grouped),
        words(grouped, "+", grouped, "-", grouped), words(grouped, "and", grouped, operator, grouped), words(grouped, compare, "1"),
        words(grouped, "is", "not", "null"), words(grouped, "not", "in", "(", listed(inner), ")"),
        words(grouped, "between", "1", "and", "2"), words(grouped, "like", "'x%'"),
        words("coalesce", "(", listed(inner), ")"), words("count", "(", ")"), words("count", "(", "distinct", inner, ")"),
        words("cast", "(", inner, "as", "decimal", "(", "12", ",", "2", ")", ")"), words("transform", "(", "a", ",", "x", "->", inner, ")"),
        words("sum", "(", inner, ")", "filter", "(", inner, ")"), words("sum", "(", inner, ")", "over", "(", window, ")"),
        words("match", grouped, "{", listed(arm), ",", "_", "=>", inner, ",", "}"), words("match", "{", inner, "=>", inner, "}"),
        words("exists", "(", "from", one(TABLES), "where", inner, ")"), words("a", "[", inner, "]"),
    )  # fmt: skip


EXPRESSIONS = st.recursive(one(NAMES | LITERALS), compound, max_leaves=5)
ENTRIES = words("{", listed(words(one(PLAIN), ":", EXPRESSIONS)), one(st.sampled_from((",", ""))), "}")  # fmt: skip
ITEMS = st.one_of(words(one(NAMES)), words("*"), words("s", ".", "*", "except", "(", "a", ",", "b", ")"), words(one(PLAIN), ":", EXPRESSIONS))  # fmt: skip
SOURCES = st.one_of(words(one(TABLES)), words(one(TABLES), "as", "t"), words("(", "from", one(TABLES), "take", "5", ")", "as", "t"))  # fmt: skip
STEPS = st.one_of(
    words("where", EXPRESSIONS),
    words(one(st.sampled_from(("derive", "set"))), ENTRIES),
    words("group", listed(st.one_of(one(NAMES), words(one(PLAIN), ":", EXPRESSIONS))), ENTRIES),
    words("group", ENTRIES),
    words("select", "{", listed(ITEMS), "}"),
    words("drop", listed(one(PLAIN))),
    words(one(st.sampled_from(("join", "left join", "full join", "left_join"))), SOURCES, "on", "a", ",", "b"),
    words("right", "join", one(TABLES), "as", "u", "on", "s.a == u.b", "{", "keep", "u.c", ",", "d", ":", "u.e", "}"),
    words(one(st.sampled_from(("semi join", "anti join"))), SOURCES, "on", EXPRESSIONS.map(lambda e: ["(", *e, ")"])),
    words("cross", "join", SOURCES),
    words("sort", listed(words(one(NAMES), "desc", "nulls", "last"))),
    words("sort", "-", one(NAMES)),
    words("sort", "-", "-", one(NAMES)),
    words("take", "1_000"),
    words("distinct"),
    words(one(st.sampled_from(("union all", "union distinct", "intersect", "except all"))), SOURCES),
)  # fmt: skip
LINKS = st.sampled_from(("", "", "|"))


@st.composite
def pipelines(draw: st.DrawFn) -> str:
    """A text of the language."""
    made: list[str] = []
    for index in range(draw(st.integers(0, 2))):
        made += ["let", f"x{index}", "=", "from", *draw(SOURCES)]
        for step in draw(st.lists(STEPS, max_size=2)):
            made += [draw(LINKS), *step]
    made += ["from", *draw(SOURCES)]
    for step in draw(st.lists(STEPS, max_size=4)):
        made += [draw(LINKS), *step]
    spaced = [word for text in made if text for word in text_words(text)]
    gaps = draw(st.lists(GAPS, min_size=len(spaced) + 1, max_size=len(spaced) + 1))
    return "".join(gap + word for gap, word in zip(gaps, spaced, strict=False)) + gaps[-1]


def text_words(text: str) -> list[str]:
    """Words of a keyword such as `left join`; anything else is one."""
    return text.split() if text.replace(" ", "").isalpha() else [text]
