"""`rocky docs` as it is typed."""

import json


def test_it_says_what_to_open_and_notes_errors(rocky, shop):
    done = rocky("docs", "-o", "table")

    assert 0 == done.code
    assert done.out.endswith("; open target/docs/index.html\n")
    assert "" == done.err
    assert (shop / "target/docs/index.html").exists()

    (shop / "models/wrong.sql").write_text("SELECT nothing FROM nowhere")
    assert "note: 1 error in the project, which the site shows\n" == rocky("docs").err
    quiet = rocky("docs", "--quiet", "-o", "table")
    assert "" == quiet.out + quiet.err


def test_another_folder_is_named_and_a_foreign_one_refused(rocky, shop):
    assert 0 == rocky("docs", "--out", "public").code
    assert (shop / "public/data/index.js").exists()

    done = rocky("docs", "--out", "models", "-o", "json")
    assert 1 == done.code
    assert "WouldOverwrite" == json.loads(done.out)["error"]["kind"]
