package rocky.spark;

import java.util.Arrays;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.execution.datasources.OutputWriter;
import org.apache.spark.sql.execution.datasources.OutputWriterFactory;
import org.apache.spark.sql.execution.datasources.parquet.ParquetFileFormat;
import org.apache.spark.sql.types.StructType;
import scala.Option;
import scala.collection.immutable.Map;

/**
 * Spark's Parquet format; whoever writes with it can ask for the rows hash of what was written.
 *
 * The files are Spark's own, byte by byte. A write names itself by an option, and the hash is asked
 * for by that name.
 */
public final class HashedParquet extends ParquetFileFormat {
  private static final long serialVersionUID = 1L;

  /** The option that names a write. */
  public static final String NAME = "rocky.rows.hash";

  /** The option that has rows sorted as they are written: the places of the columns to sort by. */
  public static final String ORDER = "rocky.rows.order";

  /** The option that says how many rows are sorted into a file; more of them fail the write. */
  public static final String MOST = "rocky.rows.most";

  /** How the names of folders begin that a write puts its partitions into. */
  private static final String PARTITION = "__part_";

  private static final ConcurrentMap<String, RowsSum> SUMS = new ConcurrentHashMap<>();

  /** Rows and hashes of the write of this name, once; null when there was none. */
  public static String take(String name) {
    RowsSum found = SUMS.remove(name);
    return found == null ? null : found.told();
  }

  @Override
  public OutputWriterFactory prepareWrite(
      SparkSession session, Job job, Map<String, String> options, StructType schema) {
    OutputWriterFactory spark = super.prepareWrite(session, job, options, schema);
    Option<String> name = options.get(NAME);
    if (name.isEmpty()) {
      return spark;
    }
    RowsSum sum = new RowsSum();
    session.sparkContext().register(sum);
    SUMS.put(name.get(), sum);
    Option<String> order = options.get(ORDER);
    if (order.isEmpty()) {
      return new Factory(spark, sum, null, 0);
    }
    int[] places = Arrays.stream(order.get().split(",")).mapToInt(Integer::parseInt).toArray();
    return new Factory(spark, sum, places, Long.parseLong(options.get(MOST).get()));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof HashedParquet;
  }

  @Override
  public int hashCode() {
    return HashedParquet.class.hashCode();
  }

  private static final class Factory extends OutputWriterFactory {
    private static final long serialVersionUID = 1L;

    private final OutputWriterFactory spark;
    private final RowsSum sum;
    private final int[] order;
    private final long most;

    Factory(OutputWriterFactory spark, RowsSum sum, int[] order, long most) {
      this.spark = spark;
      this.sum = sum;
      this.order = order;
      this.most = most;
    }

    @Override
    public String getFileExtension(TaskAttemptContext context) {
      return spark.getFileExtension(context);
    }

    @Override
    public OutputWriter newInstance(String path, StructType schema, TaskAttemptContext context) {
      Writer writer =
          new Writer(spark.newInstance(path, schema, context), new RowHasher(schema), sum);
      return order == null ? writer : new SortingWriter(writer, schema, order, most);
    }
  }

  private static final class Writer extends OutputWriter {
    private final OutputWriter spark;
    private final RowHasher hasher;
    private final RowsSum sum;
    private final HashSum found = new HashSum();

    Writer(OutputWriter spark, RowHasher hasher, RowsSum sum) {
      this.spark = spark;
      this.hasher = hasher;
      this.sum = sum;
    }

    @Override
    public void write(InternalRow row) {
      spark.write(row);
      hasher.hash(row);
      found.addRow(hasher.low(), hasher.high());
    }

    @Override
    public void close() {
      spark.close();
      sum.addFile(below(spark.path()), found);
    }

    /** A path from the folder on that is written: the file, and the partitions it lies in. */
    private static String below(String path) {
      int start = path.lastIndexOf('/') + 1;
      while (start > 0) {
        int folder = path.lastIndexOf('/', start - 2) + 1;
        if (!path.startsWith(PARTITION, folder)) {
          break;
        }
        start = folder;
      }
      return path.substring(start);
    }

    @Override
    public String path() {
      return spark.path();
    }
  }
}
