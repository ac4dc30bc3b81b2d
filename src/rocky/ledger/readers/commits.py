"""The commit reader: which commits of tables are recorded, and what key their runs sign with.

Answers are those of the moment: while a run goes on the file grows.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId, key_of, load_record
from rocky.ledger.run_records import CommitRecord, ModelExecution, RunRecord
from rocky.ledger.schema import MODEL_OF_KEY, RUNNING

_HASHES_AT_ONCE: Final = 64
_FIRST_VERSION: Final = '"version":0'
"""Text that every record of a table's first commit has."""


class NewestCommit(NamedTuple):
    """The newest commit to a table that is recorded, and the execution of a run that records it."""

    run_id: RunId
    execution: ModelExecution
    commit: CommitRecord


class CommitReader(LookupReader):
    """Finds commits too: which is the newest of a table, and what key their runs sign with."""

    def commit_key(self, run_id: RunId) -> str | None:
        """The key that a run has recorded for its commits; None where it has recorded none.

        A record that somebody has changed says nothing.
        """
        rows = self._ask("SELECT value FROM run_history WHERE key = ?", run_id)
        if not rows or not self.is_untouched("run_history", run_id):
            return None
        return load_record(RunRecord, self.path, "run_history", run_id, rows[0][0]).commit_key

    def open_runs(self) -> frozenset[RunId]:
        """The runs that have not said how they ended, whoever makes them."""
        running = self._ask(f"SELECT key FROM run_history WHERE {RUNNING}")  # noqa: S608 - one of our own expressions
        return frozenset(RunId(key) for (key,) in running)

    def settled_runs(self) -> frozenset[RunId]:
        """Those whose promotion, revert or recovery is recorded, also as undone.

        All that they committed is recorded with it: what else they signed came to nothing.
        """
        rows = self._ask("SELECT key, json_extract(value, '$.recovers') FROM promotions")
        return frozenset(RunId(each) for row in rows for each in row if each is not None)

    def known_runs(self, run_ids: Iterable[str]) -> frozenset[str]:
        """Those of some runs that have begun in this ledger."""
        rows = self._ask(
            "SELECT key FROM run_history WHERE key IN (SELECT value FROM json_each(?))",
            json.dumps(sorted(set(run_ids))),
        )
        return frozenset(key for (key,) in rows)

    def newest_commit(self, model: str, target: str) -> "NewestCommit | None":
        """The newest commit to a table that is recorded, whatever its model was called then."""
        found = self._newest_commit(f"{MODEL_OF_KEY} = ?", key_of(model.lower()), target)
        return found or self._newest_commit("? = ''", "", target)

    def has_commit(
        self, model: str, target: str, version: int, digest: str, place: str | None = None
    ) -> bool:
        """Whether a commit is recorded, whatever its model was called then.

        Of a table in the warehouse at a `place`, only since it was last made anew there: its log
        from before it was dropped is that of another table.
        """
        named = f"{MODEL_OF_KEY} = ?", key_of(model.lower())
        found = self._recording(*named, target, [digest])
        if not found:
            # A model may have had another name then.
            named = "? = ''", ""
            found = self._recording(*named, target, [digest])
        if not found:
            whole = self._before_redaction(target, version, digest)
            if whole is not None:
                return self.has_commit(model, target, version, whole, place)
        # The same bytes as another version are another commit.
        rows = [row for row, commits in found if (version, digest) in commits]
        return bool(rows) and max(rows) >= self._life_began(*named, target, place)

    def _before_redaction(self, target: str, version: int, digest: str) -> str | None:
        """The hash of a commit before an erasure took statistics out of it, if one says so."""
        for table in (table for each in self.certificates() for table in each.tables):
            if table.target.lower() == target.lower():
                for commit in table.commits:
                    if (commit.version, commit.after) == (version, digest):
                        return commit.before
        return None

    def _recording(
        self, condition: str, value: str, target: str, texts: Sequence[str]
    ) -> list[tuple[int, set[tuple[int, str]]]]:
        """The commits to a table that executions with some text record, each with its row."""
        # Rows are numbered as they were written, whatever clocks said.
        rows = self._ask(
            f"SELECT rowid, key, value FROM model_executions WHERE {condition}"  # noqa: S608 - our own expressions
            f" AND ({' OR '.join(['instr(value, ?)'] * len(texts))}) ORDER BY rowid",
            value,
            *texts,
        )
        found = []
        for row, key, text in rows:
            each = load_record(ModelExecution, self.path, "model_executions", key, text)
            if str(each.target).lower() == target.lower():
                commits = (*each.commits, *each.adopted)
                found.append((row, {(commit.version, commit.blake3_hash) for commit in commits}))
        return found

    def _life_began(self, condition: str, value: str, target: str, place: str | None) -> int:
        """The first row that records anything of a table as it was last made anew."""
        found = self._first_commits(condition, value)
        firsts = [(row, digest) for row, name, digest in found if name == target.lower()]
        if len({digest for _, digest in firsts}) <= 1:
            return 0
        return _began(
            [each for each in firsts if place is None or self._was_made_in(each[0], place)]
        )

    def _first_commits(self, condition: str, value: str) -> list[tuple[int, str, str]]:
        """The first commits of tables that executions record: row, table in lower case, hash."""
        parts = " UNION ALL ".join(
            "SELECT made.row AS row, lower(json_extract(made.value, '$.target')) AS target,"  # noqa: S608 - our own names
            " json_extract(one.value, '$.blake3_hash') AS digest FROM"
            f" (SELECT rowid AS row, value FROM model_executions WHERE {condition}"
            f" AND instr(value, '{_FIRST_VERSION}')) AS made,"
            f" json_each(made.value, '$.{part}') AS one"
            " WHERE json_extract(one.value, '$.version') = 0"
            for part in ("adopted", "commits")
        )
        rows = self._ask(f"SELECT row, target, digest FROM ({parts}) ORDER BY row", value, value)  # noqa: S608 - our own expressions
        return [(int(row), str(target), str(digest)) for row, target, digest in rows]

    def _was_made_in(self, row: int, place: str) -> bool:
        rows = self._ask(
            "SELECT 1 FROM model_executions AS made JOIN run_history AS run"
            " ON run.key = substr(made.key, 1, instr(made.key, '|') - 1)"
            " WHERE made.rowid = ? AND json_extract(run.value, '$.warehouse') = ?",
            row,
            place,
        )
        return bool(rows)

    def recorded_checkpoints(self) -> dict[tuple[str, int], str]:
        """The hash of each recorded checkpoint by table, in lower case, and version.

        Of a table that was dropped and made again those since then.
        """
        parts = " UNION ALL ".join(
            "SELECT m.rowid AS row, lower(json_extract(m.value, '$.target')) AS target,"  # noqa: S608 - our own names
            " json_extract(one.value, '$.version') AS version,"
            " json_extract(one.value, '$.checkpoint_blake3') AS digest"
            f" FROM model_executions AS m, json_each(m.value, '$.{part}') AS one"
            " WHERE instr(m.value, '\"checkpoint_blake3\"')"
            for part in ("adopted", "commits")
        )
        rows = self._ask(
            "SELECT target, version, digest, row FROM"  # noqa: S608 - our own expressions
            f" ({parts}) WHERE digest IS NOT NULL ORDER BY row"
        )
        began = self._lives_began() if rows else {}
        return {
            (str(target), int(version)): str(digest)
            for target, version, digest, row in rows
            if row >= began.get(str(target), 0)
        }

    def _lives_began(self) -> dict[str, int]:
        """Of each table, in lower case, the first row that is about it as it was last made anew."""
        firsts: dict[str, list[tuple[int, str]]] = {}
        for row, target, digest in self._first_commits("? = ''", ""):
            firsts.setdefault(target, []).append((row, digest))
        return {
            target: _began(found)
            for target, found in firsts.items()
            if len({digest for _, digest in found}) > 1
        }

    def has_built(self, model: str, target: str) -> bool:
        """Whether a run has left a version of a table, also before commits were recorded."""
        rows = self._ask(
            f"SELECT 1 FROM model_executions WHERE ({MODEL_OF_KEY} = ?"  # noqa: S608 - one of our own expressions
            " OR lower(json_extract(value, '$.target')) = ?)"
            " AND json_extract(value, '$.commit_version') IS NOT NULL LIMIT 1",
            key_of(model.lower()),
            target.lower(),
        )
        return bool(rows)

    def unknown_commits(
        self, model: str, target: str, hashes: Mapping[int, str], place: str | None = None
    ) -> list[int]:
        """The versions of a table whose commits are not recorded with these hashes, oldest first.

        One question for all: a table has a handful of commits since its checkpoint. Of `place` see
        `has_commit`.
        """
        named = f"{MODEL_OF_KEY} = ?", key_of(model.lower())
        began = self._life_began(*named, target, place)
        found: set[tuple[int, str]] = set()
        digests = list(hashes.values())
        for start in range(0, len(digests), _HASHES_AT_ONCE):
            some = digests[start : start + _HASHES_AT_ONCE]
            for row, commits in self._recording(*named, target, some):
                found |= commits if row >= began else set()
        left = sorted(
            (version, each) for version, each in hashes.items() if (version, each) not in found
        )
        return [
            version
            for version, each in left
            if not self.has_commit(model, target, version, each, place)
        ]

    def recorded_versions(self, target: str) -> frozenset[int]:
        """The versions of a table that any run has recorded, whatever became of them."""
        rows = self._ask(
            "SELECT DISTINCT json_extract(commits.value, '$.version')"
            " FROM model_executions AS made, json_each(made.value, '$.commits') AS commits"
            " WHERE lower(json_extract(made.value, '$.target')) = ?",
            target.lower(),
        )
        return frozenset(int(version) for (version,) in rows)

    def _newest_commit(self, condition: str, value: str, target: str) -> "NewestCommit | None":
        rows = self._ask(
            f"SELECT key, value FROM model_executions WHERE {condition}"  # noqa: S608 - one of our own expressions
            " AND lower(json_extract(value, '$.target')) = ?"
            " AND coalesce(json_extract(value, '$.commits[0]'),"
            " json_extract(value, '$.adopted[0]')) IS NOT NULL ORDER BY key DESC LIMIT 1",
            value,
            target.lower(),
        )
        for key, text in rows:
            found = load_record(ModelExecution, self.path, "model_executions", key, text)
            commit = max((*found.commits, *found.adopted), key=lambda each: each.version)
            return NewestCommit(RunId(key.partition("|")[0]), found, commit)
        return None


def _began(firsts: Sequence[tuple[int, str]]) -> int:
    """The row that first has the newest of the first commits of a table; 0 where there is none."""
    others = (row for row, digest in firsts if digest != firsts[-1][1])
    last = max(others, default=0)
    return min((row for row, _ in firsts if row > last), default=0)


open_lookup_reader = CommitReader.open
