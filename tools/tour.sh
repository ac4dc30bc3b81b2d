#!/bin/sh
# The tour of `make demo`: a small shop compiled, broken, run on Spark, and asked what happened.
# It makes ./demo once and leaves it to you; the mistake is made in a copy.
set -eu

project=demo
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

if [ -t 1 ]; then bold=$(printf '\033[1m') dim=$(printf '\033[2m') plain=$(printf '\033[0m'); else bold='' dim='' plain=''; fi
say() { printf '\n%s%s%s\n' "$bold" "$1" "$plain"; }
# Tables also when the output goes to a file; an error is part of the tour, so it does not end it.
show() {
  printf '%s$ rocky %s%s\n' "$dim" "$*" "$plain"
  rocky "$@" -o table || true
}

if [ ! -e "$project/rocky.toml" ]; then
  say "A small shop to play with"
  show playground "$project"
fi

say "Compile it: every name resolved, every column typed, every contract checked. Nothing runs."
(cd "$project" && show compile)

say "Misspell one column, in a copy: line 7 of models/staging/stg_orders.sql"
cp -R "$project/." "$copy"
sed 's/^  amount,$/  amuont,/' "$project/models/staging/stg_orders.sql" >"$copy/models/staging/stg_orders.sql"
(cd "$copy" && show compile)

say "Run it on Spark: every table written content-addressed, every model measured"
(cd "$project" && show run)

say "Look at a result (no Spark needed)"
(cd "$project" && show show fct_revenue --limit 5)

say "Where does a number come from?"
(cd "$project" && show lineage fct_revenue.amount)

say "What did it cost?"
(cd "$project" && show cost)

say "The first step of an audit, without Rocky: the name of each file is the BLAKE3 of its bytes"
(cd "$project" && python - <<'PYTHON'
from pathlib import Path
from blake3 import blake3

for file in sorted(Path("warehouse").glob("*/marts/*/[0-9a-f][0-9a-f]*.parquet")):
    verdict = "same" if blake3(file.read_bytes()).hexdigest() == file.stem else "DIFFERENT"
    print(f"{verdict}  {file.parent.name}/{file.name}")
PYTHON
)

say "Your turn"
cat <<END
  . .venv/bin/activate
  cd $project
  less README.md                 # mistakes to make on purpose
  rocky compile                  # after each edit
  rocky run stg_orders+          # build what you edited and everything that reads it
  rocky test                     # the tests declared beside the models
  rocky history                  # every run, what it did and what it cost
END
