"""The server in a real Neovim: any editor that speaks the protocol takes it."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from rocky.operations.migration.template import PlaygroundRequest, playground
from tests.editors.code import ROCKY

pytestmark = [pytest.mark.slow, pytest.mark.exhaustive]

# The guide's way is that of 0.11; what is under it is older, and Debian's Neovim has it too.
SCRIPT = """
local settings = { name = "rocky", cmd = { vim.env.PROGRAM, "lsp" }, root_dir = vim.env.PROJECT }
vim.cmd("edit " .. vim.fn.fnameescape(vim.env.FILE))
if vim.lsp.start then vim.lsp.start(settings)
else vim.lsp.buf_attach_client(0, vim.lsp.start_client(settings)) end
vim.wait(240000, function() return #vim.diagnostic.get(0) > 0 end, 50)
for _, each in ipairs(vim.diagnostic.get(0)) do
  io.stdout:write(each.lnum .. " " .. tostring(each.code) .. " " .. each.message .. "\\n")
end
vim.cmd("qall!")
"""


def test_neovim_shows_what_the_server_finds(tmp_path):
    if shutil.which("nvim") is None:
        pytest.skip("needs Neovim: apt-get install neovim")
    root = tmp_path / "shop"
    playground(PlaygroundRequest(root))
    model = root / "models/marts/fct_revenue.sql"
    model.write_text(model.read_text().replace("FROM monthly", "FROM monthly WHERE amuont > 0"))
    script = Path(tmp_path / "diagnostics.lua")
    script.write_text(SCRIPT)

    done = subprocess.run(
        ["nvim", "--headless", "--clean", "-S", script],
        env=os.environ | {"PROGRAM": str(ROCKY), "PROJECT": str(root), "FILE": str(model)},
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )

    assert "E003 no column `amuont` in scope" in done.stdout
