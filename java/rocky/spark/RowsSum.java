package rocky.spark;

import org.apache.spark.util.AccumulatorV2;

/**
 * The number of rows and the sum of their hashes modulo 2^128, from the tasks of one write.
 *
 * Spark adds what a task has found once for each piece of the result, from the attempt that
 * succeeded: tasks that fail, are tried again or run twice at a time leave nothing here.
 */
final class RowsSum extends AccumulatorV2<RowsSum, RowsSum> {
  private static final long serialVersionUID = 1L;

  private long rows;
  private long low;
  private long high;

  /** One more row, by the two halves of its hash. */
  void addRow(long rowLow, long rowHigh) {
    rows++;
    addHash(rowLow, rowHigh);
  }

  private void addHash(long otherLow, long otherHigh) {
    low += otherLow;
    boolean carry = Long.compareUnsigned(low, otherLow) < 0;
    high += otherHigh + (carry ? 1 : 0);
  }

  @Override
  public void add(RowsSum other) {
    rows += other.rows;
    addHash(other.low, other.high);
  }

  @Override
  public void merge(AccumulatorV2<RowsSum, RowsSum> other) {
    add((RowsSum) other);
  }

  @Override
  public boolean isZero() {
    return rows == 0;
  }

  @Override
  public RowsSum copy() {
    RowsSum made = new RowsSum();
    made.add(this);
    return made;
  }

  @Override
  public void reset() {
    rows = 0;
    low = 0;
    high = 0;
  }

  @Override
  public RowsSum value() {
    return this;
  }

  /** The rows, then the hash as 32 hex digits. */
  String told() {
    return String.format("%d %016x%016x", rows, high, low);
  }

  @Override
  public String toString() {
    return told();
  }
}
