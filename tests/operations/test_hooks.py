"""Hooks: a real command and a real server hear of a run, and cannot stop it unless they may."""

import hashlib
import hmac
import json
import socket
import tempfile
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from time import monotonic

import pytest

from rocky.errors import NothingSelected, RunRefused
from rocky.hooks import delivery
from rocky.operations.check.validate import validate
from rocky.operations.execution.hooks import HooksRequest, list_hooks
from rocky.operations.execution.hooks import test_hooks as try_hooks
from rocky.operations.execution.run import run
from rocky.operations.findings import ErrorsFound
from rocky.plan.request import RunRequest

SECRET = "a-long-secret-of-the-hook"


class Server:
    """Answers what it is told to, and remembers what it got."""

    def __init__(self):
        self.got, self.answers = [], []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append((dict(self.headers), body))
                code = outer.answers.pop(0) if outer.answers else 200
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", "/elsewhere")
                self.end_headers()

            def log_message(self, *_):
                pass

        self._server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/hook/{SECRET}"
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    @property
    def bodies(self):
        return [json.loads(body) for _, body in self.got]


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(delivery, "_FIRST_WAIT", 0.01)
    found = Server()
    yield found
    found.close()


def hooked(shop, text, **environment):
    shop.append("rocky.toml", text)
    return shop.on(environment={**shop.workspace.environment, **environment})


@pytest.mark.slow
def test_a_run_tells_of_its_start_its_failed_models_and_its_end(shop, server):
    events = ("on_run_start", "on_model_failure", "on_run_failure", "on_run_success")
    text = "".join(f'[hook.{each}]\nurl = "${{URL}}"\nsecret = "${{SECRET}}"\n' for each in events)
    workspace = hooked(shop, text, URL=server.url, SECRET=SECRET)

    def fail(name):
        if name.endswith("by_country"):
            raise OSError("no space left on device")

    shop.before_write = fail
    report = run(workspace, RunRequest())

    told = {each["event"]: each for each in server.bodies}
    assert ["on_run_start", "on_model_failure", "on_run_failure"] == list(told)
    assert {report.run.run_id} == {each["run_id"] for each in told.values()}
    assert "by_country" in told["on_run_start"]["models"]
    assert "by_country" == told["on_model_failure"]["models"][0]["model"]
    assert "no space left" in told["on_model_failure"]["title"]
    assert ["by_country"] == [each["model"] for each in told["on_run_failure"]["failed"]]
    assert [None] * 3 == [each.error for each in report.run.hooks]
    for headers, body in server.got:
        stamp = headers["X-Rocky-Timestamp"]
        made = hmac.new(SECRET.encode(), f"{stamp}.".encode() + body, hashlib.sha256)
        assert f"v1={made.hexdigest()}" == headers["X-Rocky-Signature"]
    # Of the run that goes well there is another event.
    shop.before_write = lambda _: None
    assert 0 == run(workspace, RunRequest()).exit_code
    assert "on_run_success" == server.bodies[-1]["event"]


@pytest.mark.slow
def test_a_command_gets_the_event_on_its_input_and_nothing_in_its_line(shop, tmp_path):
    heard = tmp_path / "heard.json"
    text = (
        '[hook.on_run_success]\ncommand = "cat > \\"$HEARD\\"; echo $ROCKY_EVENT >> $HEARD"\n'
        f'env = {{ HEARD = "{heard}" }}\n'
    )
    report = run(hooked(shop, text), RunRequest())

    document, event = heard.read_text().splitlines()
    assert (0, "on_run_success") == (report.exit_code, event)
    assert report.run.run_id == json.loads(document)["run_id"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("answers", "attempts", "error"),
    [
        ([503, 429, 200], 3, None),
        ([503, 503, 503], 3, "HTTP 503 Service Unavailable"),
        ([404], 1, "HTTP 404 Not Found"),
        ([302], 1, "HTTP 302 Found"),
    ],
)
def test_a_server_that_refuses_is_asked_again_only_where_that_may_help(
    shop, server, answers, attempts, error
):
    server.answers = list(answers)
    workspace = hooked(shop, '[hook.on_run_success]\nurl = "${URL}"\n', URL=server.url)
    report = run(workspace, RunRequest())

    (told,) = report.run.hooks
    assert (attempts, error) == (told.attempts, told.error)
    assert attempts == len(server.got)
    # Nobody asked for it to fail the run.
    assert 0 == report.exit_code


@pytest.mark.slow
def test_a_required_hook_fails_the_run_at_its_end_and_refuses_it_at_its_start(shop, server):
    server.answers = [404]
    end = '[hook.on_run_success]\nurl = "${URL}"\nrequired = true\n'
    report = run(hooked(shop, end, URL=server.url), RunRequest())
    assert (1, False, True) == (report.exit_code, report.succeeded, report.run.is_done)

    server.answers = [404]
    start = '[hook.on_run_start]\nurl = "${URL}"\nrequired = true\n'
    workspace = hooked(shop, start, URL=server.url)
    with pytest.raises(RunRefused, match=r"required hook `on_run_start`.*HTTP 404.*nothing was"):
        run(workspace, RunRequest(rebuild=True))
    (record, _) = shop.records()
    assert "Failure" == record.status.value


def test_a_run_that_is_refused_is_told_of(shop, server):
    workspace = hooked(shop, '[hook.on_run_failure]\nurl = "${URL}"\n', URL=server.url)
    shop.write("models/stg_orders.sql", "SELECT nope FROM raw.orders")
    with pytest.raises(ErrorsFound):
        run(workspace, RunRequest())

    (told,) = server.bodies
    assert "on_run_failure" == told["event"]
    assert "nothing was run" in told["title"]


@pytest.mark.slow
def test_a_command_that_hangs_is_ended_with_what_it_started(shop, tmp_path):
    text = '[hook.on_run_success]\ncommand = "sleep 60 & sleep 60"\ntimeout_seconds = 1\n'
    (told,) = run(hooked(shop, text), RunRequest()).run.hooks
    assert "it did not end within 1 s" == told.error


@pytest.mark.slow
def test_a_variable_in_a_command_is_the_shells_and_no_part_of_it(shop, tmp_path):
    made = tmp_path / "made"
    text = '[hook.on_run_success]\ncommand = "echo branch is ${HEAD_REF}"\n'
    workspace = hooked(shop, text, HEAD_REF=f"x; touch {made}")
    assert 0 == run(workspace, RunRequest()).exit_code
    assert not made.exists()


@pytest.mark.slow
def test_a_command_whose_child_goes_its_own_way_holds_nothing_up(shop):
    text = '[hook.on_run_success]\ncommand = "setsid sleep 30 & sleep 30"\ntimeout_seconds = 1\n'
    begun = monotonic()
    (told,) = run(hooked(shop, text), RunRequest()).run.hooks
    assert "it did not end within 1 s" == told.error
    assert monotonic() - begun < 20, "the child is not waited for"


@pytest.mark.slow
def test_answers_that_are_no_http_or_never_end_are_failures_of_the_hook(shop):
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def answer():
            for reply in (b"hello garbage\r\n\r\n", b""):
                connection, _ = listening.accept()
                connection.recv(65536)
                connection.sendall(reply)
                held.append(connection)
                if reply:
                    connection.close()

        held = []
        threading.Thread(target=answer, daemon=True).start()
        url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
        hook = '[[hook.on_run_success]]\nurl = "${URL}"\ntimeout_seconds = 1\nretries = 0\n'
        first = run(hooked(shop, hook, URL=url), RunRequest())
        second = run(shop.on(environment={"URL": url}), RunRequest())

    assert ["it answered with no HTTP (BadStatusLine)"] == [h.error for h in first.run.hooks]
    assert ["it did not answer within 1 s"] == [h.error for h in second.run.hooks]


@pytest.mark.slow
def test_events_name_the_project_wherever_rocky_was_started(shop, server, monkeypatch):
    text = '[hook.on_run_success]\nurl = "${URL}"\n'
    workspace = hooked(shop, text, URL=server.url)
    monkeypatch.chdir(shop.root)
    run(replace(workspace, config=Path()), RunRequest())
    assert shop.root.name == server.bodies[0]["project"]


@pytest.mark.slow
def test_no_secret_is_shown(shop, server):
    text = (
        '[hook.on_run_success]\nurl = "${URL}"\n[hook.on_run_start]\n'
        'command = "echo $TOKEN >&2; exit 3"\nenv = { TOKEN = "${TOKEN}" }\nretries = 0\n'
        '[hook.on_model_failure]\ncommand = "API=${TOKEN} ./nosuch; echo ${TOKEN} >&2; exit 1"\n'
    )
    server.answers = [404]
    workspace = hooked(shop, text, URL=server.url, TOKEN=SECRET)
    report = run(workspace, RunRequest())
    listed = list_hooks(workspace, HooksRequest())

    for shown in (repr(report.run.result), repr(listed), repr(report)):
        assert SECRET not in shown
    assert "it ended with 3: ***" == report.run.hooks[0].error
    targets = ["command `echo`", "json at 127.0.0.1", "command `./nosuch;`"]
    assert targets == [each.target for each in listed.hooks]
    tried = try_hooks(workspace, HooksRequest("on_model_failure"))
    assert "it ended with 1: ***" == tried.deliveries[0].error


@pytest.mark.parametrize(
    ("style", "key", "found"),
    [
        ("slack", "", lambda body: "a test" in body["text"]),
        ("teams", "", lambda body: "AdaptiveCard" == body["attachments"][0]["content"]["type"]),
        (
            "pagerduty",
            'routing_key = "${KEY}"\n',
            lambda body: "trigger" == body["event_action"] and "r-key" == body["routing_key"],
        ),
    ],
)
def test_services_get_what_they_take_and_a_test_says_that_it_is_one(
    shop, server, style, key, found
):
    text = f'[[hook.on_run_failure]]\nurl = "${{URL}}"\nformat = "{style}"\n{key}'
    workspace = hooked(shop, text, URL=server.url, KEY="r-key")
    report = try_hooks(workspace, HooksRequest("on_run_failure"))

    assert not report.failed
    (body,) = server.bodies
    assert found(body)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[hook.on_run_failure]\n", "either a `command` or a `url`"),
        ('[hook.on_run_failure]\ncommand = "x"\nurl = "https://h"\n', "either a `command`"),
        ('[hook.on_run_failure]\nurl = "ftp://h"\n', "is not an address"),
        ('[hook.on_run_failure]\nurl = "http://[bad"\n', "is not an address"),
        ('[hook.on_run_failure]\nurl = "http://h:abc/"\n', "is not an address"),
        ('[hook.on_run_failure]\nurl = "http://h/a b"\n', "is not an address"),
        ('[hook.on_run_failure]\ncommand = "x"\nenv = { "A=B" = "c" }\n', "no name of a var"),
        ('[hook.on_run_failure]\ncommand = "a\\u0000b"\n', "ends texts"),
        ('[hook.on_run_failure]\ncommand = "x"\ntimeout_seconds = 100000000\n', "at most 3600"),
        ('[hook.on_run_failure]\nurl = "https://h"\nsecret = "${NOPE:-plain}"\n', "is a secret"),
        ('[hook.on_run_failure]\nurl = "https://h"\nsecret = "plain $${"\n', "is a secret"),
        ('[hook.on_run_failure]\nurl = "https://h"\nsecret = "${EMPTY}"\n', "is empty"),
        ('[hook.on_run_failure]\nurl = "https://h"\nsecret = "plain"\n', "is a secret"),
        ('[hook.on_run_failure]\ncommand = "x"\nformat = "slack"\n', "has no effect"),
        ('[hook.on_run_failure]\nurl = "https://h"\nenv = { A = "b" }\n', "has no effect"),
        ('[hook.on_run_failure]\nurl = "https://h"\nformat = "pagerduty"\n', "go together"),
        ('[hook.on_run_fail]\ncommand = "x"\n', "on_run_fail"),
    ],
)
def test_a_hook_that_cannot_work_is_an_error_at_its_line(shop, text, said):
    found = [each.message for each in validate(hooked(shop, text, EMPTY="")).found]
    assert any(said in each for each in found), found


def test_an_event_that_there_is_not_is_refused(shop):
    with pytest.raises(NothingSelected, match="no event `on_end`; there are `on_run_start`"):
        list_hooks(shop.workspace, HooksRequest("on_end"))
    with pytest.raises(NothingSelected, match="has no hook"):
        list_hooks(shop.workspace, HooksRequest())


def test_variables_before_a_command_are_not_shown(shop):
    workspace = hooked(shop, f'[hook.on_run_start]\ncommand = "TOKEN={SECRET} A=1 false x"\n')

    (listed,) = list_hooks(workspace, HooksRequest()).hooks
    report = run(workspace, RunRequest(("alone",)))

    assert "command `false`" == listed.target
    assert SECRET not in repr(report.run.hooks)


def test_a_header_that_ends_its_line_fails_without_being_shown(shop, server):
    text = '[hook.on_run_start]\nurl = "${URL}"\nheaders = { Authorization = "Bearer ${KEY}" }\n'
    # As it is read from a file that ends with a line.
    workspace = hooked(shop, text, URL=server.url, KEY=f"{SECRET}\n")

    (told,) = try_hooks(workspace, HooksRequest()).deliveries

    assert (1, []) == (told.attempts, server.got)
    assert "a header holds what HTTP does not take" in told.error
    assert SECRET not in told.error


def test_a_script_does_not_tell_a_secret_that_its_line_does_not_name(shop):
    shop.write("tell.sh", "printf 'no entry with %s \\033[31m' \"$DB_PASSWORD\" >&2; exit 3\n")
    workspace = hooked(
        shop, '[hook.on_run_start]\ncommand = "sh tell.sh"\nretries = 0\n', DB_PASSWORD=SECRET
    )

    (told,) = try_hooks(workspace, HooksRequest()).deliveries

    assert "it ended with 3: no entry with ***  [31m" == told.error


def test_a_machine_without_room_for_a_hook_still_ends_its_run(shop, monkeypatch):
    workspace = hooked(shop, '[hook.on_run_success]\ncommand = "true"\n')
    monkeypatch.setattr(tempfile, "tempdir", str(shop.root / "nowhere"))

    report = run(workspace, RunRequest(("alone",)))

    (told,) = report.run.hooks
    assert (0, 1) == (report.exit_code, told.attempts)
    assert "No such file or directory" in told.error
