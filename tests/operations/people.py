"""People with e-mail addresses that nobody may see, and models two steps below them."""

from tests.operations.shops import OpenShop
from tests.run.runs import write

SECRETS = ("ada@secret.example", "bob@secret.example", "cyd@secret.example")
PEOPLE = {
    "rocky.toml": '[pipeline.shop]\nmodels = "models/**"\n[resilience]\ninitial_backoff_ms = 1\n',
    "sources/raw.toml": (
        '[[source]]\nname = "raw.people"\nformat = "csv"\npath = "data/people.csv"\n'
        'columns = [ { name = "id", type = "bigint" }, { name = "email", type = "string",'
        ' classification = "pii" }, { name = "city", type = "string" } ]\n'
    ),
    "data/people.csv": "id,email,city\n"
    + "".join(
        f"{index},{each},{'Bonn' if index < 3 else 'Rome'}\n"
        for index, each in enumerate(SECRETS, 1)
    ),
    "models/stg_people.sql": "SELECT id, email, city FROM raw.people",
    "models/logins.sql": "SELECT id, lower(email) AS login, city FROM stg_people",
}
HIDDEN = "(hidden: pii)"


def open_people(shop: OpenShop) -> OpenShop:
    """The shop with people in place of orders."""
    for path in [*shop.root.glob("models/*"), *shop.root.glob("s*/*"), *shop.root.glob("data/*")]:
        path.unlink()
    write(shop.root, PEOPLE)
    return shop


def leaks(text: str) -> list[str]:
    """The addresses, or beginnings of them, that a text holds."""
    return [each for each in SECRETS if each.partition("@")[0] + "@" in text.lower()]
