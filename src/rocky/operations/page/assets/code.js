// SQL, the `.rocky` language and Python with colours and line numbers; names of tables that a model reads are links.
"use strict";

(() => {
  const { h } = Rocky;
  const SQL_WORDS = new Set(("all and anti as asc between by case cast cross cube current desc distinct else end escape except "
    + "exists extract false following for from full group grouping having ilike in inner insert intersect interval into is join "
    + "lateral left like limit merge minus natural not null nulls offset on or order outer over partition pivot preceding qualify "
    + "range recursive right rlike rollup rows select semi sets tablesample then true try_cast unbounded union unpivot using "
    + "values when where window with within").split(" "));
  const ROCKY_WORDS = new Set(("and anti as asc between cross derive desc distinct drop except false from full group ilike in inner "
    + "intersect is join keep left let like match not null nulls on or over partition range replicate right rlike rows select semi "
    + "set sort take true union where").split(" "));
  const PYTHON_WORDS = new Set(("and as assert async await break class continue def del elif else except False finally for from "
    + "global if import in is lambda None nonlocal not or pass raise return True try while with yield").split(" "));
  const SQL = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^'\\]|\\[\s\S]|'')*'?|"(?:[^"\\]|\\[\s\S])*"?)|(@\w+)|(\d+(?:\.\d+)?(?:[eE][+-]?\d+)?\w*)|((?:`[^`\n]*`|[A-Za-z_]\w*)(?:\.(?:`[^`\n]*`|[A-Za-z_]\w*))*)/g;
  const PYTHON = /(#[^\n]*)|("""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)|(@\w+)|(\d[\w.]*)|([A-Za-z_]\w*)/g;
  const LANGUAGES = { sql: "SQL", rocky: "Rocky", python: "Python" };
  const KINDS = ["comment", "string", "mark", "number"];

  // The pieces of a text: [kind or null, text].
  function* pieces(text, language) {
    const pattern = new RegExp(language === "python" ? PYTHON : SQL);
    let end = 0;
    for (let found = pattern.exec(text); found; found = pattern.exec(text)) {
      if (found.index > end) yield [null, text.slice(end, found.index)];
      const kind = KINDS.find((_, number) => found[number + 1] !== undefined);
      yield [kind || "name", found[0]];
      end = pattern.lastIndex;
    }
    if (end < text.length) yield [null, text.slice(end)];
  }

  function piece(kind, text, language, reads) {
    if (kind !== "name") return kind ? h("span", { class: `code-${kind}` }, text) : text;
    if (language === "python") return PYTHON_WORDS.has(text) ? h("b", { class: "code-word" }, text) : text;
    if (language === "rocky" ? ROCKY_WORDS.has(text) : SQL_WORDS.has(text.toLowerCase())) return h("b", { class: "code-word" }, text);
    const table = reads.get(text.replaceAll("`", "").toLowerCase());
    return table ? h("a", { href: Rocky.store.tableLink(table) }, text) : text;
  }

  // `reads` are the tables that the text may name.
  function code({ text, language, line }, tables, marked) {
    const reads = new Map();
    for (const table of tables) {
      reads.set(table.name.toLowerCase(), table);
      if (table.target) reads.set(table.target.toLowerCase(), table);
    }
    const rows = [[]];
    for (const [kind, part] of pieces(text.replace(/\s+$/, ""), language)) {
      part.split("\n").forEach((each, number) => {
        if (number) rows.push([]);
        if (each) rows[rows.length - 1].push(piece(kind, each, language, reads));
      });
    }
    return h("pre", { class: "code", tabindex: "0", role: "group", "aria-label": LANGUAGES[language] },
      h("code", {}, rows.map((row, number) =>
        h("span", { class: marked.has(line + number) ? "row row-marked" : "row", "data-line": line + number }, row, "\n"))));
  }

  Rocky.code = code;
  Rocky.languages = LANGUAGES;
})();
