"""The program `dbt`, asked for a manifest: it parses, connects to nothing and runs nothing.

It gets a profile of ours, so that it reads none with passwords; an environment with little in it,
so that no secret can get into what it writes; and a folder of ours to write to.
"""

import json
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rocky.dbt.manifest import load_manifest
from rocky.dbt.values import DbtProject
from rocky.errors import ImportRefused

PATIENCE_SECONDS: Final = 600
_PROFILE: Final = "rocky"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")


def ask_dbt(root: Path, schema: str, environment: Mapping[str, str]) -> DbtProject | str:
    """The project as the installed dbt parses it, or why that could not be done."""
    program = shutil.which("dbt", path=environment.get("PATH"))
    if program is None:
        return "dbt is not installed"
    with TemporaryDirectory(prefix="rocky-dbt-") as scratch:
        folder = Path(scratch)
        target = {"type": "spark", "method": "session", "schema": schema, "host": "none"}
        profiles = {_PROFILE: {"target": "prod", "outputs": {"prod": target}}}
        # JSON is YAML.
        (folder / "profiles.yml").write_text(json.dumps(profiles), encoding="utf-8")
        passed = {name: environment[name] for name in _PASSED_ON if name in environment}
        command = (
            *(program, "--no-use-colors", "--no-send-anonymous-usage-stats", "parse"),
            *("--no-partial-parse", "--project-dir", str(root.resolve())),
            *(
                "--profile",
                _PROFILE,
                "--profiles-dir",
                scratch,
                "--target-path",
                str(folder / "target"),
            ),
            *("--log-path", str(folder / "logs")),
        )
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                errors="replace",
                env=passed,
                cwd=scratch,
                timeout=PATIENCE_SECONDS,
                check=False,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"dbt would not answer: {error}"
        manifest = folder / "target" / "manifest.json"
        if done.returncode != 0 or not manifest.exists():
            return f"dbt could not parse it: {_reason(done.stdout)}"
        try:
            return load_manifest(manifest, root, "dbt")
        except ImportRefused as error:
            return str(error)


def _reason(output: str) -> str:
    """The line after the one that says that there was an error."""
    lines = [line.partition("  ")[2].strip() or line.strip() for line in output.splitlines()]
    for at, line in enumerate(lines):
        if "Error" in line:
            told = [each for each in lines[at : at + 3] if each]
            return " ".join(told)[:300]
    return lines[-1][:300] if lines else "it said nothing"
