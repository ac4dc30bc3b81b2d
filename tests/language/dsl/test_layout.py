"""The layout of a pipeline, line by line."""

import pytest

from rocky.language.dsl.layout import lay_out, means_the_same
from rocky.language.dsl.tokens import Problem

LAYOUTS = {
    "a step stands on a line of its own and bars go": (
        "from t|where a>1|take 5",
        "from t\nwhere a > 1\ntake 5\n",
    ),
    "a block that fits stays on its line": (
        "from t derive {a:1,b:2,} select{a,b}",
        "from t\nderive { a: 1, b: 2 }\nselect { a, b }\n",
    ),
    "a block begun on a new line has a line for each entry": (
        "from t derive {\na:1,b:2}",
        "from t\nderive {\n    a: 1,\n    b: 2,\n}\n",
    ),
    "a block that does not fit breaks": (
        "from t select { " + ", ".join(f"a_long_name_of_a_column_{n}" for n in range(5)) + " }",
        "from t\nselect {\n" + "".join(f"    a_long_name_of_a_column_{n},\n" for n in range(5)) + "}\n",
    ),
    "a long condition breaks before its operators": (
        f"from t where {'a' * 40} > 1 and {'b' * 40} > 2 and c(1,2) == -3",
        f"from t\nwhere {'a' * 40} > 1\n    and {'b' * 40} > 2\n    and c(1, 2) == -3\n",
    ),
    "a long call breaks in its parentheses": (
        f"from t derive {{ a: coalesce({'b' * 50}, {'c' * 50}) }}",
        f"from t\nderive {{\n    a: coalesce(\n        {'b' * 50},\n        {'c' * 50}\n    ),\n}}\n",
    ),
    "comments stay above and behind what they are about": (
        "-- head\n\n\n-- more\nfrom t -- all of it\n\n\n-- why\nwhere a > 1 -- not one\nderive { -- new\na: 1, -- one\n-- two\nb: 2 -- last\n}\n-- end",
        "-- head\n\n-- more\nfrom t -- all of it\n\n-- why\nwhere a > 1 -- not one\nderive { -- new\n    a: 1, -- one\n    -- two\n    b: 2, -- last\n}\n-- end\n",
    ),
    "empty lines between steps and entries stay, one of them": (
        "\n\nfrom t\n\n\n\nwhere a\n\nselect {\n\n a,\n\n\n b }\n\n\n",
        "from t\n\nwhere a\n\nselect {\n    a,\n\n    b,\n}\n",
    ),
    "bindings stand before the pipeline, which is set apart": (
        "let a=from t where b>1 let c = from a\nfrom c",
        "let a = from t where b > 1\nlet c = from a\n\nfrom c\n",
    ),
    "a long binding breaks": (
        f"let a = from t where {'b' * 50} > 1 select {{ {'c' * 50} }} from a",
        f"let a =\n    from t\n    where {'b' * 50} > 1\n    select {{ {'c' * 50} }}\n\nfrom a\n",
    ),
    "the words of a type stay apart": (
        "from t select{a:cast(b as struct<c int,d:string>),e:cast(f as interval day  to second),g:h}",
        "from t\nselect { a: cast(b as struct<c int, d:string>), e: cast(f as interval day to second), g: h }\n",
    ),
    "windows, frames, matches and casts are spaced": (
        "from t derive{a:sum(b)over(partition c,sort -d,rows -6..current),e:match f{>1=>2,null=>3,_=>cast(4 as decimal(3,2))},g:x[0].y}",
        "from t\nderive {\n    a: sum(b) over (partition c, sort -d, rows -6..current),\n"
        "    e: match f { > 1 => 2, null => 3, _ => cast(4 as decimal(3, 2)) },\n    g: x[0].y,\n}\n",
    ),
    "two minuses in a row stay apart": (
        "from t derive {y:-  -x,z:a- - -1,w:-(-x)} sort - -a,-  - -b nulls last,-c",
        "from t\nderive { y: - -x, z: a - - -1, w: -(-x) }\nsort - -a, - - -b nulls last, -c\n",
    ),
    "joins and pipelines in parentheses": (
        "from a left join(from b where c>1)as d on e,f{keep d.g,h:d.i}union all(from j)",
        "from a\nleft join (from b where c > 1) as d on e, f { keep d.g, h: d.i }\nunion all (from j)\n",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "expected"), LAYOUTS.values(), ids=LAYOUTS)
def test_a_text_is_laid_out(text, expected):
    laid_out = lay_out(text)

    assert expected == laid_out
    assert means_the_same(text, laid_out)
    assert laid_out == lay_out(laid_out)


def test_what_is_no_pipeline_has_no_layout():
    assert isinstance(lay_out("from t whre a"), Problem)


@pytest.mark.parametrize(
    "other",
    ["from t where a > 2", "from t -- x\nwhere a > 1", "from t where", "from t where A > 1"],
)
def test_another_text_does_not_mean_the_same(other):
    assert not means_the_same("from t where a > 1", other)
