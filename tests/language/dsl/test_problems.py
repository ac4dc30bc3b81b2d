"""What is no pipeline is told at its place, with what was expected and what may be meant."""

import pytest

from rocky.language.dsl.lowering import lower_text
from rocky.language.dsl.tokens import WORDS, Problem

REFUSED = [
    ("", "", "expected `from` or `let`, the beginning of a pipeline, the file ends here", None),
    ("SELECT 1", "SELECT", "expected `from` or `let`, the beginning of a pipeline, found `SELECT`", "words of the language are written in lower case: `select`"),
    ("form t", "form", "expected `from` or `let`, the beginning of a pipeline, found `form`", "did you mean `from`?"),
    ("from t whre a", "whre", "expected a step or the end of the file, found `whre`", "did you mean `where`?"),
    ("from t where a deriv { b: 1 }", "deriv", "expected a step or the end of the file, found `deriv`", "did you mean `derive`?"),
    ("from t order by a", "order", "expected a step or the end of the file, found `order`", "write `sort`"),
    ("from t limit 5", "limit", "expected a step or the end of the file, found `limit`", "write `take`"),
    ("from t group by a { n: count() }", "a", "expected a step or the end of the file, found `a`", None),
    ("from t where", "", "expected an expression, the file ends here", None),
    ("from t where a = 1", "=", "`=` is not an operator", "write `==` to compare"),
    ("from t where a <> 1", "<>", "`<>` is not known here", "write `!=`"),
    ("from t where a == null", "null", "nothing equals `null`, so this is never true", "write `is null`"),
    ("from t where a == b == c", "==", "`==` follows a comparison", "put the comparison before it into parentheses, or join two by `and`"),
    ("from t derive { a: b || c + 1 }", "+", "`+` stands beside `||`", "put one of the two into parentheses"),
    ("from t derive { a: 1 - b || c }", "||", "`||` stands beside `-`", "put one of the two into parentheses"),
    ("from t where a AND b", "AND", "expected a step or the end of the file, found `AND`", "words of the language are written in lower case: `and`"),
    ("from t where a && b", "&", "the character `&` means nothing here", "write `and`"),
    ("from t where !a", "!", "the character `!` means nothing here", "write `not`"),
    ("from t;", ";", "the character `;` means nothing here", "a file holds one pipeline and needs no `;`"),
    ("from t # x", "#", "the character `#` means nothing here", "a comment begins with `--`"),
    ("from t /* x */", "/*", "`/*` is not known here", "a comment begins with `--`"),
    ("from t where a == 'x\ntake 5", "'x", "a string is opened and never closed", "close the string with `'` on the same line"),
    ("from `t", "`", "a quoted name is opened and never closed", "close the name with a backtick on the same line"),
    ("from t where größe > 1", "größe", "`größe` is not a name", "a name that begins with a digit or has other letters is written in backticks"),
    ("from t where a > 1x", "1x", "`1x` is not a number", "a name that begins with a digit or has other letters is written in backticks"),
    ("from t where a > @2025-02-30", "@2025-02-30", "`@2025-02-30` is not a date: day is out of range for month", "a date is `@YYYY-MM-DD`, a time `@YYYY-MM-DDTHH:MM:SS` with an optional `Z`"),
    ("from t where a > @2025", "@2025", "`@2025` is not a date", "a date is `@YYYY-MM-DD`, a time `@YYYY-MM-DDTHH:MM:SS` with an optional `Z`"),
    ("from t where sort > 1", "sort", "expected an expression, found `sort`", "write a column that is called `sort` in backticks"),
    ("from t derive { a }", "}", "expected `:` after the name `a`, found `}`", None),
    ("from t derive { }", "}", "expected `name: expression` in `derive`, found `}`", None),
    ("from t derive { a: 1 b: 2 }", "b", "expected `,` or `}`, found `b`", None),
    ("from t derive { a: 1", "", "expected `,` or `}`, the file ends here", None),
    ("from t select { a + 1 }", "a + 1", "an item of `select` that is no column needs a name", "write `name: expression`"),
    ("from t group a + 1 { n: count() }", "a + 1", "a key of `group` that is no column needs a name", "write `name: expression`"),
    ("from t sort -qty + x", "+", "a key with `-` before it and `+` in it", "write `-(...)` for all of it in descending order, or `(-a) + b` for a minus of one value"),
    ("from t sort a, -qty * 2 nulls last", "*", "a key with `-` before it and `*` in it", "write `-(...)` for all of it in descending order, or `(-a) + b` for a minus of one value"),
    ("from t sort a, 1 desc", "1", "a number is the same for every row, and sorts none", "write the name of a column"),
    ("from t sort -(2)", "2", "a number is the same for every row, and sorts none", "write the name of a column"),
    ("from t sort -a is null", "is", "a key with `-` before it and `is` in it", "write `-(...)` for all of it in descending order, or `(-a) + b` for a minus of one value"),
    ("from t derive { n: row_number() over (sort -a || b) }", "||", "a key with `-` before it and `||` in it", "write `-(...)` for all of it in descending order, or `(-a) + b` for a minus of one value"),
    ("from t take 1.5", "1.5", "expected a whole number of rows after `take`, found `1.5`", None),
    ("from t union u", "u", "expected `all` (every row) or `distinct` after `union`, found `u`", None),
    ("from t join u", "", "expected `on` and what the two sides have in common, the file ends here", None),
    ("from t join u using a", "using", "expected `on` and what the two sides have in common, found `using`", "write `on` and the names of the columns"),
    ("from t left u on a", "u", "expected `join` after `left`, found `u`", None),
    ("from t cross join u on a", "on", "a cross join has no condition", "write `join`"),
    ("from t semi join u on a { keep u.b }", "{", "a semi join gives no columns of the other table", "remove `{ keep ... }`, or write `join`"),
    ("from t join u on t.a == b { keep u.c }", "b", "the condition of a join with `keep` does not say whose column `b` is", "write `u.b`, or the name of the other table"),
    ("from t join (from u) on t.a == u.b { keep c }", "(from u)", "the joined pipeline has no name to `keep` columns by", "write `as name` behind it"),
    ("from t join u on a { keep a: u.b }", "a", "the join is by `a`, so nothing else can have that name", "give it another name"),
    ("from t join u on t.a == u.b { keep u.c.b }", "b", "the join is by `b`, so nothing else can have that name", "give it another name"),
    ("from t join u on a { keep * }", "*", "`keep` takes columns", "leave `keep` out to have all of them"),
    ("from t where a > 1 replicate", "replicate", "`replicate` copies a table as it is and stands alone after `from`", "remove it, or the other steps"),
    ("from t replicate take 5", "replicate", "`replicate` copies a table as it is and stands alone after `from`", "remove it, or the other steps"),
    ("let a = from t let a = from u from a", "a", "`a` is bound twice", "give one of the two another name"),
    ("let a = from t", "", "expected a step or `from`, the beginning of a pipeline, the file ends here", None),
    ("from t derive { a: match b { _ => 1, 2 => 3 } }", "_ => 1", "the arms after `_` are never reached", "move `_` to the end"),
    ("from t derive { a: match b { } }", "}", "expected an arm `pattern => result` in `match`, found `}`", None),
    ("from t derive { a: row_number() over (sort b, partition c) }", "c", "expected `rows`, `range` or `)` in `over (...)`, found `c`", None),
    ("from t derive { a: f() over (order b) }", "order", "expected `partition`, `sort`, `rows`, `range` or `)` in `over (...)`, found `order`", "write `sort`"),
    ("from t derive { a: sum(b) over (sort c, rows 3..current) }", "rows 3..current", "the window ends before it begins", "rows before the current one are negative: `-3..current`"),
    ("from t sort -a desc", "desc", "a key with `-` before it and a direction behind it", "`-key` means `key desc`: write one of the two"),
    ("from t where a in ()", ")", "expected a value in the list, found `)`", None),
    ("from t |", "", "expected a step after `|`, the file ends here", None),
    ("from t where " + "(" * 300 + "1" + ")" * 300, "(", "the expression nests deeper than 64 levels", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "under", "message", "advice"), REFUSED)
def test_a_text_is_refused_at_its_place(text, under, message, advice):
    problem = lower_text(text)

    assert isinstance(problem, Problem), problem
    assert (under, message, advice) == (text[slice(*problem.span)], problem.message, problem.help)


@pytest.mark.parametrize("mark", list("!#$&;?^~\\€\x00"))
def test_no_character_is_dropped(mark):
    for text in (
        f"from t {mark}",
        f"from t where a {mark} b",
        f"{mark} from t",
        f"from t where {mark}a > 1",
    ):
        assert isinstance(lower_text(text), Problem)


@pytest.mark.parametrize("word", sorted(WORDS - {"true", "false", "null", "match", "not"}))
def test_a_word_of_the_language_is_no_column(word):
    assert isinstance(lower_text(f"from t where {word}"), Problem)
