"""Layouts: kept for the next start, only from the page itself, and drawn just as when made."""

import json

import pytest

from rocky.project.user_cache import cache_place
from tests.operations.projects import GOOD, open_project
from tests.servers.browser import open_browser
from tests.web.servers import Answer, ask, serving

LAYOUTS = "/api/v1/layouts"


def hand_in(server, layout, **headers) -> Answer:
    own = {
        "Content_Type": "application/json",
        "Origin": f"http://127.0.0.1:{server.server_port}",
        "Host": f"127.0.0.1:{server.server_port}",
    }
    given = {name: value for name, value in (own | headers).items() if value}
    body = None if layout is None else json.dumps(layout).encode()
    return ask(server, LAYOUTS, method="POST", body=body, **given)


def test_a_layout_is_there_at_the_next_start_and_outside_the_project(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    files = {each for each in tmp_path.rglob("*") if each.is_file()}
    with serving(workspace) as server:
        assert {} == ask(server, LAYOUTS).document["layouts"]
        assert 200 == hand_in(server, {"key": "2 1 0 7 8", "heights": [44, -3]}).status
    with serving(workspace) as server:
        assert {"2 1 0 7 8": [44, -3]} == ask(server, LAYOUTS).document["layouts"]
        for number in range(4):
            hand_in(server, {"key": str(number), "heights": [number]})
        assert ["0", "1", "2", "3"] == [*ask(server, LAYOUTS).document["layouts"]]
    with serving(workspace, local=False, hosts=("127.0.0.1",)) as server:
        found = ask(server, LAYOUTS).document
        assert (False, 4) == (found["keeps"], len(found["layouts"]))
    assert files == {each for each in tmp_path.rglob("*") if each.is_file()}


def test_a_layout_of_another_script_or_another_hand_is_not_there(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    with serving(workspace) as server:
        hand_in(server, {"key": "a", "heights": [1]})
    (kept,) = cache_place(tmp_path).folder.glob("page-layouts-*")
    kept.write_bytes(kept.read_bytes().replace(b"[1]", b"[2]"))
    with serving(workspace) as server:
        assert {} == ask(server, LAYOUTS).document["layouts"]
        hand_in(server, {"key": "a", "heights": [1]})
        kept.rename(kept.with_name("page-layouts-0000000000000000"))
        assert {} == ask(server, LAYOUTS).document["layouts"]


def test_only_the_page_of_one_person_hands_in_layouts_and_only_numbers(tmp_path):
    workspace = open_project(tmp_path, GOOD)
    good = {"key": "a", "heights": [1]}
    with serving(workspace) as server:
        assert 403 == hand_in(server, good, Origin="").status
        assert 403 == hand_in(server, good, Origin="http://elsewhere.example").status
        assert 415 == hand_in(server, good, Content_Type="text/plain").status
        for wrong in (
            [],
            {"key": "a"},
            {"key": 1, "heights": []},
            {"key": "a" * 101, "heights": []},
            {"key": "a", "heights": "<script>"},
            {"key": "a", "heights": [True]},
            {"key": "a", "heights": [0.5]},
            {"key": "a", "heights": [2**50]},
        ):
            answer = hand_in(server, wrong)
            assert (400, "a layout") == (answer.status, answer.document["error"]["message"][:8])
        assert 413 == hand_in(server, None, Content_Length=str(9 * 1024 * 1024)).status
        assert {} == ask(server, LAYOUTS).document["layouts"]
    with serving(workspace, local=False) as server:
        assert 403 == hand_in(server, good).status


LARGE = """(() => {
  const sizes = Array.from({ length: 2000 }, (_, at) => [120 + (at % 7) * 9, 44]);
  const some = (at, by) => ((Math.imul(at, by) >>> 5) % at);
  const edges = sizes.flatMap((_, at) => (at < 20 ? [] : [[some(at, 7919), at], [some(at, 40503), at]]));
  const told = [];
  Rocky.keepLayouts(window.given || {}, (key, heights) => told.push([key, heights]));
  return [JSON.stringify(Rocky.layered(sizes, edges, 1.6)), told];
})()"""


@pytest.mark.slow
@pytest.mark.server
def test_a_graph_is_drawn_from_what_is_kept_just_as_it_was_when_it_was_laid_out(tmp_path):
    workspace = open_project(tmp_path / "shop", GOOD)
    with serving(workspace) as server, open_browser(tmp_path / "browser") as browser:
        page = browser.open_page()
        page.visit(server.address.url)
        page.wait("document.querySelector('main h1') !== null")
        made, ((key, heights),) = page.ask(LARGE)
        assert 3000 < len(heights), "with the places of long edges"
        again = browser.open_page()
        again.visit(server.address.url.partition("?")[0])
        again.wait("document.querySelector('main h1') !== null")
        assert [made, []] == again.ask(f"window.given = {json.dumps({key: heights})}, {LARGE}")
        other = {key: heights[1:]}
        fresh = browser.open_page()
        fresh.visit(server.address.url.partition("?")[0])
        fresh.wait("document.querySelector('main h1') !== null")
        assert made == fresh.ask(f"window.given = {json.dumps(other)}, {LARGE}")[0]
