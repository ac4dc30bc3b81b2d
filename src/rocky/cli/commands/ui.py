"""`rocky ui` and `rocky serve`: the page of the project, over a server."""

import html
import tempfile
import webbrowser
from pathlib import Path
from typing import Final

import click

from rocky.cli.console import ExitCode, write_line, write_note, write_report
from rocky.cli.options import RockyCommand, Settings
from rocky.web.address import ServerAddress, ServerSettings
from rocky.web.server import PageServer

_OPENING: Final = 60.0
"""A browser that has not opened the page after so many seconds will not."""
REPORTS: Final = {"ui": ServerAddress, "serve": ServerAddress}


class UiCommand(RockyCommand):
    """A command that shows what was recorded, and keeps nothing."""

    uses_state = True
    takes_branch = True


@click.command(
    "ui",
    cls=UiCommand,
    examples=(
        ("rocky ui", "open the page in the browser"),
        ("rocky ui --no-open --port 8000", "print its address only"),
        ("rocky ui --allow-actions", "with buttons that run and verify"),
    ),
)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=0, help="The port. Default: a free one."
)
@click.option("--no-open", is_flag=True, help="Print the address and open no browser.")
@click.option(
    "--allow-actions", is_flag=True, help="Let the page run selections, verify and check replays."
)
@click.pass_obj
def command(settings: Settings, port: int, *, no_open: bool, allow_actions: bool) -> ExitCode:
    """Open the page of the project: its graph, runs, branches, evidence and state, as they change.

    The page is served on this machine alone, to whoever has the address with its token, and is for
    reading. Ctrl-C ends it.
    """
    wanted = ServerSettings(port=port, allow_actions=allow_actions)
    server = PageServer(lambda: settings.workspace, wanted)
    return _serve(settings, "ui", server, opens=not no_open)


@click.command(
    "serve",
    cls=UiCommand,
    examples=(
        ("rocky serve --host 127.0.0.1 --port 8080", "for a proxy on the same machine"),
        (
            "rocky serve --host 0.0.0.0 --port 8080 --allowed-host data.example.com",
            "for a proxy elsewhere, which is called by that name",
        ),
    ),
)
@click.option("--host", required=True, metavar="ADDRESS", help="The address to listen on.")
@click.option("--port", type=click.IntRange(1, 65535), required=True, help="The port.")
@click.option(
    "--allowed-host",
    "hosts",
    multiple=True,
    metavar="HOST[:PORT]",
    help="A name by which it may be called. Repeatable.",
)
@click.pass_obj
def serve_command(settings: Settings, host: str, port: int, hosts: tuple[str, ...]) -> ExitCode:
    """Serve the page and its protocol to a team, for reading, behind a proxy of its own.

    It asks nobody who they are: the proxy in front of it does. Rows, logs and texts of errors are
    not served, because they may quote values. Ctrl-C ends it.
    """
    wanted = ServerSettings(host=host, port=port, hosts=hosts, local=False)
    return _serve(settings, "serve", PageServer(lambda: settings.workspace, wanted), opens=False)


def _write_door(folder: Path, url: str) -> Path:
    """A file that only this user can read, and that leads to the page.

    All users of a machine see the arguments of its programs, so the browser is given no token.
    """
    door = folder / "open.html"
    link = html.escape(url)
    door.write_text(
        f'<!doctype html><meta charset="utf-8"><title>Rocky</title>'
        f'<meta name="referrer" content="no-referrer">'
        f'<meta http-equiv="refresh" content="0; url={link}">'
        f'<p><a href="{link}">Open the page</a></p>',
        encoding="utf-8",
    )
    return door


def _serve(settings: Settings, name: str, server: PageServer, *, opens: bool) -> ExitCode:
    address = server.address
    server.start()
    try:
        if settings.json:
            write_report(name, address)
        else:
            write_line(address.url)
            if not settings.quiet:
                write_note("Ctrl-C ends it")
        if not opens:
            server.stop.wait()
            return ExitCode.OK
        with tempfile.TemporaryDirectory(prefix="rocky-ui-") as folder:
            webbrowser.open(_write_door(Path(folder), address.url).as_uri())
            server.opened.wait(_OPENING)
        server.stop.wait()
    except KeyboardInterrupt:
        if not settings.quiet:
            write_note("ended")
    finally:
        server.close()
    return ExitCode.OK
