"""The order of an erasure: what is asked for, by whom and why, before it is looked at again."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rocky.ledger.erasure_records import ErasureRecord
from rocky.maintenance.erasure.mask_history import NO_MASKS_NOW, MasksNow
from rocky.maintenance.erasure.subject import Subject


@dataclass(frozen=True, slots=True)
class ErasureOrder:
    """What is to be erased, why and for whom. `receipt` is the key of the certificate's HMAC.

    `left` and `sources` go into the certificate as they are. `masks` are those that tables have
    now, `keys` the columns that carry the key, by target; tables that hold it `hashed` are asked
    for another subject. Without a `subject`, what is erased is the past of tables that were built
    anew since an erasure, which this one `completes`; or else all versions that were masked
    otherwise than now.
    """

    subject: Subject | None
    receipt: str
    reason: str
    by: str
    left: Mapping[str, str]
    sources: Mapping[str, str]
    completes: ErasureRecord | None = None
    masks: MasksNow = NO_MASKS_NOW
    keys: Mapping[str, Sequence[str]] = field(default_factory=dict)
    hashed: Mapping[str, Subject] = field(default_factory=dict)

    def subject_of(self, target: str) -> Subject | None:
        """What a table is asked for, by target in lower case."""
        return self.hashed.get(target, self.subject)

    @property
    def clears_versions(self) -> bool:
        return self.subject is None and self.completes is None

    @property
    def named(self) -> tuple[str, str]:
        """The column and the HMAC that a certificate names its subject by."""
        if self.subject is not None:
            return self.subject.column, self.subject.fingerprint(self.receipt)
        earlier = self.completes
        return ("", "") if earlier is None else (earlier.column, earlier.hmac)
