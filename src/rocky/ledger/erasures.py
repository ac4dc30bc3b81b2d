"""Recording an erasure: its tables, its certificate and the files that go, in one transaction."""

from collections.abc import Sequence

from rocky.canonical import record_json
from rocky.ledger.erasure_records import ERASURES, ErasureRecord
from rocky.ledger.provenance import CollectedFile
from rocky.ledger.record import format_time, key_of
from rocky.ledger.writer import Ledger, ModelRecords, put_model


def record_erasure(
    ledger: Ledger, tables: Sequence[ModelRecords], certificate: ErasureRecord
) -> None:
    """All there is to say of an erasure, in one transaction and before a file is removed.

    Raises ClaimLost when others have recorded its run as dead.
    """
    run_id = certificate.run_id
    with ledger.transaction() as rows:
        ledger.refuse_dead(rows, run_id)
        for each in tables:
            put_model(rows, run_id, each)
        rows.put(ERASURES, run_id, record_json(certificate.to_json()))
        for file in _collected(certificate):
            key = key_of(format_time(file.collected_at), file.file_path)
            rows.put("collected_files", key, record_json(file.to_json()))


def _collected(certificate: ErasureRecord) -> list[CollectedFile]:
    """The same files as whoever asks for collected ones finds them."""
    return [
        CollectedFile(
            file.blake3_hash,
            file.file_path,
            table.target,
            file.size_bytes,
            certificate.erased_at,
            f"erased, by the certificate of {certificate.run_id}",
        )
        for table in certificate.tables
        for file in table.files
    ]
