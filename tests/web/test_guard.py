"""Who is answered: a token, the right host, the own origin; and nothing but the page's own files."""

import json
import stat
import tempfile
import time
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from socket import create_connection

import pytest

from rocky.cli.commands.ui import _write_door
from rocky.web import server as server_module
from tests.operations.projects import GOOD, open_project
from tests.web.servers import ask, serving


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    root = tmp_path_factory.mktemp("guarded")
    with serving(open_project(root, GOOD)) as found:
        yield found


PATHS = ["/", "/app.js", "/api/v1/project", "/api/v1/events", "/api/v1/rows?table=good"]


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("token", [None, "", "x" * 43, "é"])
def test_nothing_is_shown_without_the_token(server, path, token):
    answer = ask(server, path, token=token if token != "é" else "%C3%A9")

    assert 401 == answer.status
    assert b"good" not in answer.body


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:{port}", "127.0.0.1:1", "127.0.0.1", ""]
)
def test_another_name_for_this_machine_gets_nothing(server, path, host):
    answer = ask(server, path, Host=host.format(port=server.server_port))

    assert 421 == answer.status


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_another_origin_gets_nothing(server, origin):
    assert 403 == ask(server, "/api/v1/project", Origin=origin).status


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_what_another_site_embeds_is_not_served(server, site):
    assert 403 == ask(server, "/api/v1/project", Sec_Fetch_Site=site).status
    assert 403 == ask(server, "/app.js", Sec_Fetch_Site=site).status


def test_the_own_page_is_answered_by_cookie_and_a_program_by_its_header(server):
    own = f"http://127.0.0.1:{server.server_port}"
    assert 200 == ask(server, "/api/v1/project", Origin=own, Sec_Fetch_Site="same-origin").status
    bearer = f"Bearer {server.guard.token}"
    assert 200 == ask(server, "/api/v1/project", token=None, Authorization=bearer).status
    assert 401 == ask(server, "/api/v1/project", token=None, Authorization="Bearer x").status


def test_the_address_with_the_token_gives_a_cookie_that_scripts_and_others_never_see(server):
    answer = ask(server, f"/?token={server.guard.token}", token=None)

    assert 200 == answer.status
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= {
        each.strip() for each in answer.headers["Set-Cookie"].split(";")
    }
    assert server.guard.token not in answer.body.decode()
    wrong = ask(server, "/?token=wrong", token=None)
    assert (401, False) == (wrong.status, "Set-Cookie" in wrong.headers)


@pytest.mark.parametrize("path", ["/", "/app.js", "/api/v1/project", "/nothing", "/api/v1/nothing"])
def test_every_answer_forbids_scripts_of_others_and_guesses_of_its_kind(server, path):
    headers = ask(server, path).headers

    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert "unsafe" not in headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "nosniff" == headers["X-Content-Type-Options"]
    assert "no-store" == headers["Cache-Control"]
    assert not [name for name in headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize(
    "path",
    [
        "/../rocky.toml",
        "/..%2frocky.toml",
        "/%2e%2e/rocky.toml",
        "/assets/../../rocky.toml",
        "/rocky.toml",
        "/models/good.sql",
        "//etc/passwd",
        "/app.js%00.html",
        "/../../../../../../etc/passwd",
        "/.rocky-state.db",
    ],
)
def test_no_file_but_the_pages_own_is_served(server, path):
    answer = ask(server, path)

    assert 404 == answer.status
    assert b"adapter" not in answer.body


POST = {"method": "POST", "body": b"{}"}


def test_an_action_is_refused_where_none_is_allowed(server):
    own = f"http://127.0.0.1:{server.server_port}"
    answer = ask(server, "/api/v1/actions/run", Origin=own, Content_Type="application/json", **POST)

    assert 403 == answer.status
    assert "--allow-actions" in answer.document["error"]["message"]


def test_an_action_needs_the_own_origin_json_and_the_token(tmp_path):
    with serving(open_project(tmp_path, GOOD), allow_actions=True) as server:
        own = f"http://127.0.0.1:{server.server_port}"
        kind = {"Content_Type": "application/json"}
        path = "/api/v1/actions/verify"
        assert 403 == ask(server, path, **kind, **POST).status
        assert 403 == ask(server, path, Origin="http://evil.example", **kind, **POST).status
        assert 401 == ask(server, path, token=None, Origin=own, **kind, **POST).status
        for form in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
            assert 415 == ask(server, path, Origin=own, Content_Type=form, **POST).status
        assert (
            403 == ask(server, path, Origin=own, Sec_Fetch_Site="cross-site", **kind, **POST).status
        )
        assert [] == [each for each in [server.jobs.report().job] if each is not None]
        assert 202 == ask(server, path, Origin=own, **kind, **POST).status
        assert server.jobs.report().job is not None


def test_what_is_sent_is_small_and_says_its_size(tmp_path):
    with serving(open_project(tmp_path, GOOD), allow_actions=True) as server:
        own = f"http://127.0.0.1:{server.server_port}"
        large = json.dumps({"what": "x" * 70_000}).encode()
        answer = ask(
            server,
            "/api/v1/actions/verify",
            method="POST",
            body=large,
            Origin=own,
            Content_Type="application/json",
        )
        assert 413 == answer.status


def test_a_server_for_others_shows_no_rows_logs_or_texts_of_errors_and_never_acts(tmp_path):
    with serving(open_project(tmp_path, GOOD), local=False, hosts=("data.example.com",)) as server:
        assert 200 == ask(server, "/api/v1/project", token=None).status
        assert 200 == ask(server, "/api/v1/project", token=None, Host="data.example.com").status
        assert 421 == ask(server, "/api/v1/project", token=None, Host="other.example.com").status
        for name in (
            "rows?table=good",
            "files?table=good",
            "logs",
            "record",
            "verify",
            "plan",
            "state",
        ):
            assert 404 == ask(server, f"/api/v1/{name}", token=None).status
        own = f"http://127.0.0.1:{server.server_port}"
        answer = ask(
            server,
            "/api/v1/actions/run",
            token=None,
            Origin=own,
            Content_Type="application/json",
            **POST,
        )
        assert 403 == answer.status


@pytest.mark.parametrize(
    "said",
    [
        "Content-Length: 45",
        "Transfer-Encoding: chunked",
        "Content-Length: 0\r\nContent-Length: 45",
        "Content-Length : 45",
        "no header\r\nContent-Length: 45",
    ],
)
def test_what_a_question_carries_is_never_taken_for_the_next_question(server, said):
    host = f"127.0.0.1:{server.server_port}"
    hidden = f"GET /api/v1/list HTTP/1.1\r\nHost: {host}\r\n\r\n"
    asked = f"GET / HTTP/1.1\r\nHost: {host}\r\n{said}\r\n\r\n{hidden}"

    with create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(asked.encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert 1 == answer.count(b"HTTP/1.1 ")


def test_an_address_that_is_none_is_refused_with_a_word(server):
    host = f"127.0.0.1:{server.server_port}"
    with create_connection(("127.0.0.1", server.server_port), timeout=10) as connection:
        connection.sendall(f"GET http://[ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(65536), b""))

    assert answer.startswith(b"HTTP/1.1 400 ")


def test_cookies_of_other_servers_on_this_machine_lock_nobody_out(server):
    own = f"{server.guard.cookie}={server.guard.token}"
    odd = f'theme={{"dark": true}}; name=a b@c; quote="; {own}'

    assert 200 == ask(server, "/api/v1/list", token=None, Cookie=odd).status
    assert 401 == ask(server, "/api/v1/list", token=None, Cookie=f"x={own}").status


def test_a_connection_too_many_is_refused_with_a_word_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.setattr(server_module, "_MOST_CONNECTIONS", 3)
    with serving(open_project(tmp_path, GOOD)) as server:
        held = [HTTPConnection("127.0.0.1", server.server_port, timeout=20) for _ in range(3)]
        for each in held:
            each.connect()
        time.sleep(0.3)
        refused = ask(server, "/app.js")
        assert 503 == refused.status
        assert "too many connections" in refused.document["error"]["message"]
        held.pop().close()
        time.sleep(0.3)
        assert 200 == ask(server, "/app.js").status
        for each in held:
            each.close()


def test_the_browser_is_given_a_file_of_this_user_and_no_token(tmp_path):
    door = _write_door(tmp_path, "http://127.0.0.1:1/?token=a&b")
    assert "token" not in door.as_uri()
    assert 'url=http://127.0.0.1:1/?token=a&amp;b"' in door.read_text()
    with tempfile.TemporaryDirectory() as folder:
        assert 0o700 == stat.S_IMODE(Path(folder).stat().st_mode), "as the command makes it"


def test_a_fault_of_the_server_is_told_without_what_was_asked(server, monkeypatch, caplog):
    monkeypatch.setattr(server_module._Handler, "_serve_file", None)

    with pytest.raises(RemoteDisconnected):
        ask(server, "/app.js?token=secret")

    (told,) = caplog.records
    assert "a request was not answered" == told.getMessage()
    assert "secret" not in caplog.text
