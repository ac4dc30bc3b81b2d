#!/bin/sh
# The tour of `make demo`: a small shop compiled, broken, and asked where a number comes from.
# It makes ./demo once and leaves it to you; the mistake is made in a copy.
set -eu

project=demo
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT

say() { printf '\n\033[1m%s\033[0m\n' "$1"; }
show() { printf '\033[2m$ %s\033[0m\n' "$*"; "$@"; }

if [ ! -e "$project" ]; then
  say "A small shop to play with"
  show rocky playground "$project"
fi

say "Compile it: every name resolved, every column typed, every contract checked. Nothing runs."
(cd "$project" && show rocky compile) || true

say "Break it: one misspelt column, in a copy"
cp -R "$project/." "$copy"
sed -i.orig 's/\bamount\b/amuont/' "$copy"/models/staging/stg_orders.sql
rm -f "$copy"/models/staging/*.orig
(cd "$copy" && show rocky compile) || true

say "Where does a number come from?"
(cd "$project" && show rocky lineage fct_revenue.revenue) || true

say "What does a code mean?"
show rocky explain E003 | head -n 12

say "Your turn"
cat <<END
  . .venv/bin/activate
  cd $project && less README.md        # has an exercise: mistakes to make on purpose
  rocky compile                        # after each edit
  rocky compile --verify spark         # ask Spark's own analyser (needs Java 17)
END
