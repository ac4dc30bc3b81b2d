#!/bin/sh
# The tour of `make demo`: a small shop compiled, broken, and asked where a number comes from.
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

say "Where does a number come from?"
(cd "$project" && show lineage fct_revenue.revenue)

say "What does a code mean? (the first lines)"
show explain E003 | head -n 10

say "Your turn"
cat <<END
  . .venv/bin/activate
  cd $project
  less README.md                 # mistakes to make on purpose
  rocky compile                  # after each edit
  rocky compile --verify spark   # ask Spark's own analyser (needs Java 17)
END
