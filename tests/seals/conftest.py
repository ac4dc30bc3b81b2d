"""A sealed shop, made once: real keys, a real repository, everything real but Spark."""

import subprocess
from pathlib import Path

import pytest

from tests.branches.shops import BranchShop, Template
from tests.branches.statements import Keys
from tests.run.runs import write


@pytest.fixture(scope="session")
def keys(tmp_path_factory) -> Keys:
    """A key for who may seal, one for who may approve, and one that nobody lists."""
    folder = tmp_path_factory.mktemp("keys")
    for name in ("ada", "bob", "eve"):
        line = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        subprocess.run(line, check=True)
    return Keys(folder)


class SealedShop(BranchShop):
    """A shop whose seal `first` was made after its first run; a second run follows by `run`."""

    keys: Keys

    @property
    def seals(self) -> list[Path]:
        return sorted((self.root / "seals").glob("*.seal"))

    @property
    def first(self) -> Path:
        return self.seals[0]

    def run(self, rows: int = 5) -> None:
        lines = [f"{row},{'DE' if row % 3 else 'FR'}\n" for row in range(1, rows + 1)]
        write(self.root, {"data/orders.csv": "id,country\n" + "".join(lines)})
        self.do("run")

    def seal(self, *more: str, key: str = "ada") -> str:
        return self.do("seal", "--key", str(self.keys.path(key)), *more)

    def codes(self, *arguments: str) -> list[str]:
        """The findings of `rocky verify`, each once; the exit code says the same."""
        answer = self.rocky("verify", *arguments)
        found = sorted({line.split(":")[0] for line in answer.out.splitlines()[:-1]} - {"note"})
        # A line for each transfer of a remote state is no complaint.
        said = [line for line in answer.err.splitlines() if not line.startswith("{")]
        assert (bool(found), []) == (answer.code == 1, said)
        return found


@pytest.fixture(scope="session")
def template(tmp_path_factory, keys) -> Template:
    def prepare(shop: BranchShop) -> None:
        sealed = SealedShop(shop.root)
        sealed.keys = keys
        listed = f'ada@x namespaces="rocky-seal" {keys.public("ada")}\nbob@x {keys.public("bob")}\n'
        write(shop.root, {"allowed_signers": listed})
        shop.do("run")
        sealed.seal()
        shop.commit("sealed")

    return Template(tmp_path_factory.mktemp("sealed"), prepare)


@pytest.fixture
def shop(template, keys, monkeypatch) -> SealedShop:
    for name in ("SSH_AUTH_SOCK", "ROCKY_SIGNING_KEY"):
        monkeypatch.delenv(name, raising=False)
    found = SealedShop(template.put_back(monkeypatch).root)
    found.keys = keys
    monkeypatch.setenv("HOME", str(found.root.parent))
    return found
