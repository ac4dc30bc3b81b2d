package rocky.spark;

import java.io.Serializable;

/** A number of rows, and the sum of their hashes modulo 2^128. */
final class HashSum implements Serializable {
  private static final long serialVersionUID = 1L;

  private long rows;
  private long low;
  private long high;

  /** One more row, by the two halves of its hash. */
  void addRow(long rowLow, long rowHigh) {
    rows++;
    addHash(rowLow, rowHigh);
  }

  void add(HashSum other) {
    rows += other.rows;
    addHash(other.low, other.high);
  }

  private void addHash(long otherLow, long otherHigh) {
    low += otherLow;
    boolean carry = Long.compareUnsigned(low, otherLow) < 0;
    high += otherHigh + (carry ? 1 : 0);
  }

  long rows() {
    return rows;
  }

  /** The hash as 32 hex digits. */
  String hex() {
    return String.format("%016x%016x", high, low);
  }
}
