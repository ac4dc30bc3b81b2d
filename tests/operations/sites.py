"""Sites that `rocky docs` has written, read back as a browser would."""

import json
import re
from pathlib import Path
from typing import Any

_CALL = re.compile(r"rockyData\('([\w-]+)', '(.*)'\);\n")
_ESCAPE = re.compile(r"\\(x3c|.)")


def read_data(folder: Path, name: str) -> Any:
    """The document in one of the files of `data`."""
    text = (folder / "data" / f"{name}.js").read_bytes().decode("ascii")
    found = _CALL.fullmatch(text)
    assert found is not None
    assert name == found[1]
    return json.loads(_ESCAPE.sub(lambda each: "<" if each[1] == "x3c" else each[1], found[2]))


def read_site(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """The index, and the details of every table by its name."""
    index = read_data(folder, "index")
    parts = [read_data(folder, f"part-{number}") for number in range(index["parts"])]
    details = {
        table["name"]: parts[table["part"]][str(place)]
        for place, table in enumerate(index["tables"])
    }
    return index, details


def all_bytes(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


HOSTILE = {
    "models/bad.sql": "-- </script><script>owned()</script> \u2028 \u2029 ' \\\nSELECT\n"
    "  order_id AS `<img src=x onerror=owned()>`, amount AS constructor, '</script>' AS __proto__\n"
    "FROM raw.orders\n",
    "models/bad.toml": 'name = "<b>bold"\ndescription = "<script>owned()</script> \\u2028 \'; owned(); //"\n'
    'owner = "\\"><svg onload=owned()>"\n'
    'tags = ["javascript:owned()"]\n[meta]\n__proto__ = { polluted = "<i>" }\n'
    'url = "javascript:owned()"\n[columns.constructor]\ndescription = "<script>owned()</script>"\n'
    '[[tests]]\ntype = "accepted_values"\ncolumn = "__proto__"\nname = "</script><script>owned()"\n'
    'values = ["\'", "\\\\", "<script>"]\n',
    "models/__proto__.sql": "SELECT `<img src=x onerror=owned()>` AS a FROM `<b>bold`\n",
}
"""Models whose names, texts and labels would act where anything took them for markup or code."""
