package rocky.spark;

import java.util.Map;
import java.util.TreeMap;

import org.apache.spark.util.AccumulatorV2;

/**
 * The number of rows and the sum of their hashes modulo 2^128 of each file of one write.
 *
 * Spark adds what a task has found once for each piece of the result, from the attempt that
 * succeeded: tasks that fail, are tried again or run twice at a time leave nothing here.
 */
final class RowsSum extends AccumulatorV2<RowsSum, RowsSum> {
  private static final long serialVersionUID = 1L;

  /** By the path of each file below the folder that is written. */
  private final TreeMap<String, HashSum> files = new TreeMap<>();

  /** One more file, complete. */
  void addFile(String path, HashSum sum) {
    files.computeIfAbsent(path, absent -> new HashSum()).add(sum);
  }

  @Override
  public void add(RowsSum other) {
    other.files.forEach(this::addFile);
  }

  @Override
  public void merge(AccumulatorV2<RowsSum, RowsSum> other) {
    add((RowsSum) other);
  }

  @Override
  public boolean isZero() {
    return files.isEmpty();
  }

  @Override
  public RowsSum copy() {
    RowsSum made = new RowsSum();
    made.add(this);
    return made;
  }

  @Override
  public void reset() {
    files.clear();
  }

  @Override
  public RowsSum value() {
    return this;
  }

  /** The rows, then the hash as 32 hex digits; then the hash and the path of each file. */
  String told() {
    HashSum all = new HashSum();
    StringBuilder each = new StringBuilder();
    for (Map.Entry<String, HashSum> file : files.entrySet()) {
      all.add(file.getValue());
      each.append('\n').append(file.getValue().hex()).append(' ').append(file.getKey());
    }
    return all.rows() + " " + all.hex() + each;
  }

  @Override
  public String toString() {
    return told();
  }
}
