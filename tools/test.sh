#!/bin/sh
# The suite: the tests that ask Spark in one process, which share one session and so one JVM,
# and beside it the fast ones on the other cores. Each part's output comes whole, the Spark part last.
#
#     tools/test.sh PYTHON        what guards a promise; of kills and histories a third, by a seed
#     tools/test.sh PYTHON all    every case, and the tests marked `exhaustive`
set -u
python="$1"
if [ "${2:-}" = all ]; then
  which=""
  sample=""
else
  which=" and not exhaustive"
  # `ROCKY_SEED=... make test` takes the same cases again.
  seed="${ROCKY_SEED:-$(date +%s)}"
  sample="--sample $seed"
  echo "cases of sampled tests are chosen by ROCKY_SEED=$seed"
fi
cores=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
# Two at least: some tests wait for a claim to end or a server to answer.
workers=$((cores > 2 ? cores - 1 : 2))
said=$(mktemp)
trap 'rm -f "$said"' EXIT

"$python" -m pytest -q -p no:xdist -m "spark$which" $sample tests/spark >"$said" 2>&1 &
spark=$!
trap 'kill $spark 2>/dev/null; rm -f "$said"; exit 130' INT TERM

# Spark's part takes longest, so the others step back for it.
nice -n 10 "$python" -m pytest -q -n "$workers" --dist worksteal -o tmp_path_retention_policy=failed \
  -m "not spark$which" $sample
fast_status=$?
wait $spark
spark_status=$?
cat "$said"
[ "$fast_status" -eq 0 ] && [ "$spark_status" -eq 0 ]
