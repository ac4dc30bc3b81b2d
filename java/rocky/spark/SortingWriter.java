package rocky.spark;

import java.io.IOException;
import java.io.UncheckedIOException;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeProjection;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.UnsafeExternalRowSorter;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.types.StructType;
import scala.collection.Iterator;

/**
 * A file whose rows are sorted before they are written; what does not fit into memory is spilled.
 *
 * It is for tables of one file. More rows than that takes would have to be sorted before they are
 * cut, so they fail the write.
 */
final class SortingWriter extends OutputWriter {
  /** How the message begins by which the caller knows that there are too many rows. */
  static final String TOO_MANY = "more rows than one file takes";

  /** Spark's own pages are up to 64 MiB, which are filled with zeros first. */
  private static final long PAGE = 1L << 20;

  private final OutputWriter writer;
  private final StructType schema;
  private final UnsafeExternalRowSorter sorter;
  private final long most;
  private UnsafeProjection held;
  private long rows;

  SortingWriter(OutputWriter writer, StructType schema, int[] places, long most) {
    this.writer = writer;
    this.schema = schema;
    this.most = most;
    RowOrder order = new RowOrder(schema, places);
    try {
      // Each merge of what was spilled has a comparator of its own.
      sorter = UnsafeExternalRowSorter.createWithRecordComparator(
          schema, () -> new RowOrder(schema, places), order.prefixComparator(), order.prefixes(),
          PAGE, false);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  @Override
  public void write(InternalRow row) {
    if (++rows > most) {
      throw new IllegalStateException(TOO_MANY + ": " + most);
    }
    try {
      sorter.insertRow(asHeld(row));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  private UnsafeRow asHeld(InternalRow row) {
    if (row instanceof UnsafeRow) {
      return (UnsafeRow) row;
    }
    if (held == null) {
      held = UnsafeProjection.create(schema);
    }
    return held.apply(row);
  }

  @Override
  public void close() {
    try {
      // Spark closes the writer of a task that failed, too, and throws away what it wrote.
      if (rows <= most) {
        Iterator<InternalRow> sorted = sorter.sort();
        while (sorted.hasNext()) {
          writer.write(sorted.next());
        }
      }
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    } finally {
      sorter.cleanupResources();
      writer.close();
    }
  }

  @Override
  public String path() {
    return writer.path();
  }
}
