"""The commit reader: which commits of tables are recorded, and what key their runs sign with.

Answers are those of the moment: while a run goes on the file grows.
"""

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import closing
from typing import Final, NamedTuple

from rocky.ledger.readers.lookup import LookupReader
from rocky.ledger.record import RunId, key_of, load_record
from rocky.ledger.run_records import CommitRecord, ModelExecution, RunRecord
from rocky.ledger.schema import (
    CHECKPOINTED,
    COMMITTED,
    MADE_ANEW,
    MODEL_OF_KEY,
    RUNNING,
    TARGET_OF_EXECUTION,
)

_HASHES_AT_ONCE: Final = 64


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
        return self._newest_commit(_by_model(model), target) or self._newest_commit(_BY_ANY, target)

    def has_commit(
        self, model: str, target: str, version: int, digest: str, place: str | None = None
    ) -> bool:
        """Whether a commit is recorded, whatever its model was called then.

        Of a table in the warehouse at a `place`, only since it was last made anew there: its log
        from before it was dropped is that of another table.
        """
        began = self._life_began(target, place)
        # A model may have had another name then.
        for named in (_by_model(model), _BY_ANY):
            if not self._find_unrecorded(named, target, {(version, digest)}, began):
                return True
        whole = self._before_redaction(target, version, digest)
        return whole is not None and self.has_commit(model, target, version, whole, place)

    def _before_redaction(self, target: str, version: int, digest: str) -> str | None:
        """The hash of a commit before an erasure took statistics out of it, if one says so."""
        for table in (table for each in self.certificates() for table in each.tables):
            if table.target.lower() == target.lower():
                for commit in table.commits:
                    if (commit.version, commit.after) == (version, digest):
                        return commit.before
        return None

    def _find_unrecorded(
        self,
        named: "_Named",
        target: str,
        commits: Collection[tuple[int, str]],
        began: int,
    ) -> set[tuple[int, str]]:
        """Those of some commits to a table that no execution records, since it was made anew.

        The newest executions are looked at first, and no more than are needed. The same bytes as
        another version are another commit.
        """
        left = set(commits)
        texts = sorted({digest for _, digest in commits})
        # Rows are numbered as they were written, whatever clocks said.
        rows = self._stream(
            f"SELECT rowid, key, value FROM model_executions WHERE {named.condition}"  # noqa: S608 - our own expressions
            f" AND {COMMITTED} AND ({' OR '.join(['instr(value, ?)'] * len(texts))})"
            f" ORDER BY {named.order} DESC",
            named.value,
            *texts,
        )
        with closing(rows):
            for row, key, text in rows:
                each = load_record(ModelExecution, self.path, "model_executions", key, text)
                if row >= began and str(each.target).lower() == target.lower():
                    found = (*each.commits, *each.adopted)
                    left -= {(commit.version, commit.blake3_hash) for commit in found}
                if not left:
                    break
        return left

    def _life_began(self, target: str, place: str | None = None) -> int:
        """The first row that records anything of a table as it was last made anew."""
        firsts = self._first_commits(target)
        if len({digest for _, digest in firsts}) <= 1:
            return 0
        return _began(
            [each for each in firsts if place is None or self._was_made_in(each[0], place)]
        )

    def _first_commits(self, target: str) -> list[tuple[int, str]]:
        """The first commits of a table that executions record, with their rows, in order."""
        rows = self._ask(
            f"SELECT rowid, key, value FROM model_executions WHERE {MADE_ANEW}"  # noqa: S608 - our own expressions
            f" AND {TARGET_OF_EXECUTION} = ? ORDER BY rowid",
            _lower(target),
        )
        return [
            (int(row), commit.blake3_hash)
            for row, key, text in rows
            for each in (load_record(ModelExecution, self.path, "model_executions", key, text),)
            for commit in (*each.adopted, *each.commits)
            if commit.version == 0
        ]

    def _was_made_in(self, row: int, place: str) -> bool:
        rows = self._ask(
            "SELECT 1 FROM model_executions AS made JOIN run_history AS run"
            " ON run.key = substr(made.key, 1, instr(made.key, '|') - 1)"
            " WHERE made.rowid = ? AND json_extract(run.value, '$.warehouse') = ?",
            row,
            place,
        )
        return bool(rows)

    def has_checkpoint(self, table: str, version: int, digest: str) -> bool:
        """Whether the newest recorded checkpoint of a table's version has this hash.

        Of a table that was dropped and made again, only since then.
        """
        about = f"{CHECKPOINTED} AND {TARGET_OF_EXECUTION} = ?"
        rows = self._ask(
            f"SELECT rowid, key, value FROM model_executions WHERE {about}"  # noqa: S608 - our own expressions
            " AND instr(value, ?) ORDER BY rowid DESC LIMIT 1",
            _lower(table),
            digest,
        )
        for row, key, text in rows:
            # Another may have taken its place since, with another hash.
            later = self._ask(
                f"SELECT rowid, key, value FROM model_executions WHERE {about}"  # noqa: S608 - our own expressions
                " AND rowid > ? AND instr(value, ?) ORDER BY rowid DESC",
                _lower(table),
                row,
                f'"version":{version}',
            )
            for found, name, value in (*later, (row, key, text)):
                each = load_record(ModelExecution, self.path, "model_executions", name, value)
                said = [
                    commit.checkpoint_blake3
                    for commit in (*each.adopted, *each.commits)
                    if commit.version == version and commit.checkpoint_blake3 is not None
                ]
                if said:
                    return said[-1] == digest and found >= self._life_began(table)
        return False

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
        began = self._life_began(target, place)
        listed = sorted(hashes.items(), reverse=True)
        unknown: list[int] = []
        for start in range(0, len(listed), _HASHES_AT_ONCE):
            some = listed[start : start + _HASHES_AT_ONCE]
            left = self._find_unrecorded(_by_model(model), target, some, began)
            unknown += (
                version
                for version, each in left
                if not self.has_commit(model, target, version, each, place)
            )
        return sorted(unknown)

    def recorded_versions(self, target: str) -> frozenset[int]:
        """The versions of a table that any run has recorded, whatever became of them."""
        rows = self._ask(
            f"SELECT key, value FROM model_executions WHERE {COMMITTED}"  # noqa: S608 - our own expressions
            f" AND {TARGET_OF_EXECUTION} = ?",
            _lower(target),
        )
        made = (load_record(ModelExecution, self.path, "model_executions", *row) for row in rows)
        return frozenset(commit.version for each in made for commit in each.commits)

    def _newest_commit(self, named: "_Named", target: str) -> "NewestCommit | None":
        rows = self._ask(
            f"SELECT key, value FROM model_executions WHERE {named.condition} AND {COMMITTED}"  # noqa: S608 - our own expressions
            f" AND {TARGET_OF_EXECUTION} = ? ORDER BY {named.order} DESC LIMIT 1",
            named.value,
            _lower(target),
        )
        for key, text in rows:
            found = load_record(ModelExecution, self.path, "model_executions", key, text)
            commit = max((*found.commits, *found.adopted), key=lambda each: each.version)
            return NewestCommit(RunId(key.partition("|")[0]), found, commit)
        return None


class _Named(NamedTuple):
    """Executions of one model, or of any: a condition, its value, and what orders them by time.

    A plus sign keeps SQLite from walking all executions in that order to save sorting a few.
    """

    condition: str
    value: str
    order: str


def _by_model(model: str) -> _Named:
    return _Named(f"{MODEL_OF_KEY} = ?", key_of(model.lower()), "key")


_BY_ANY: Final = _Named("? = ''", "", "+key")


def _lower(target: str) -> str:
    """A name in the lower case of SQLite, which leaves all but ASCII as it is."""
    return target.translate(_ASCII_LOWER)


_ASCII_LOWER: Final = {number: number + 32 for number in range(ord("A"), ord("Z") + 1)}


def _began(firsts: Sequence[tuple[int, str]]) -> int:
    """The row that first has the newest of the first commits of a table; 0 where there is none."""
    others = (row for row, digest in firsts if digest != firsts[-1][1])
    last = max(others, default=0)
    return min((row for row, _ in firsts if row > last), default=0)


open_lookup_reader = CommitReader.open
