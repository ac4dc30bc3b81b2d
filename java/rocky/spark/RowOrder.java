package rocky.spark;

import java.nio.ByteOrder;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.execution.UnsafeExternalRowSorter;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.util.collection.unsafe.sort.PrefixComparator;
import org.apache.spark.util.collection.unsafe.sort.PrefixComparators;
import org.apache.spark.util.collection.unsafe.sort.RecordComparator;

/**
 * The canonical order of rows of plain columns, as Spark's sort by the same keys has it.
 *
 * Columns one after the other, nulls first, texts by their bytes; then, where zeros of either sign
 * sort as equal, the row's hash. It is the same code for every table: what Spark generates for each
 * takes longer to compile than a small table takes to sort.
 */
final class RowOrder extends RecordComparator {
  private static final boolean LITTLE_ENDIAN =
      ByteOrder.nativeOrder().equals(ByteOrder.LITTLE_ENDIAN);

  private final int[] places;
  private final int[] kinds;
  private final DataType[] types;
  private final int flags;
  private final RowHasher hasher;
  private final UnsafeRow left;
  private final UnsafeRow right;

  /** By the columns at these places. */
  RowOrder(StructType schema, int[] places) {
    int columns = schema.fields().length;
    this.places = places;
    kinds = new int[columns];
    types = new DataType[columns];
    boolean floats = false;
    for (int place = 0; place < columns; place++) {
      types[place] = schema.fields()[place].dataType();
      kinds[place] = RowHasher.kindOf(types[place]);
      floats |= kinds[place] == RowHasher.FLOAT || kinds[place] == RowHasher.DOUBLE;
      if (kinds[place] >= RowHasher.STRUCT) {
        throw new IllegalArgumentException("rows with a " + types[place].simpleString()
            + " are sorted by Spark");
      }
    }
    flags = UnsafeRow.calculateBitSetWidthInBytes(columns);
    hasher = floats ? new RowHasher(schema) : null;
    left = new UnsafeRow(columns);
    right = new UnsafeRow(columns);
  }

  @Override
  public int compare(Object one, long oneAt, int oneSize, Object other, long otherAt, int size) {
    for (int place : places) {
      boolean absent = isNull(one, oneAt, place);
      boolean otherAbsent = isNull(other, otherAt, place);
      if (absent || otherAbsent) {
        if (absent != otherAbsent) {
          return absent ? -1 : 1;
        }
        continue;
      }
      int found = compareValues(place, one, oneAt, other, otherAt);
      if (found != 0) {
        return found;
      }
    }
    return hasher == null ? 0 : compareHashes(one, oneAt, oneSize, other, otherAt, size);
  }

  private static boolean isNull(Object base, long at, int place) {
    return (Platform.getLong(base, at + 8L * (place >> 6)) >> place & 1) != 0;
  }

  private int compareValues(int place, Object one, long oneAt, Object other, long otherAt) {
    long at = oneAt + flags + 8L * place;
    long otherValue = otherAt + flags + 8L * place;
    switch (kinds[place]) {
      case RowHasher.BOOLEAN:
        return Boolean.compare(
            Platform.getBoolean(one, at), Platform.getBoolean(other, otherValue));
      case RowHasher.BYTE:
        return Byte.compare(Platform.getByte(one, at), Platform.getByte(other, otherValue));
      case RowHasher.SHORT:
        return Short.compare(Platform.getShort(one, at), Platform.getShort(other, otherValue));
      case RowHasher.INT:
        return Integer.compare(Platform.getInt(one, at), Platform.getInt(other, otherValue));
      case RowHasher.LONG:
      case RowHasher.SMALL_DECIMAL:
        return Long.compare(Platform.getLong(one, at), Platform.getLong(other, otherValue));
      case RowHasher.FLOAT:
        return compareDoubles(Platform.getFloat(one, at), Platform.getFloat(other, otherValue));
      case RowHasher.DOUBLE:
        return compareDoubles(Platform.getDouble(one, at), Platform.getDouble(other, otherValue));
      case RowHasher.LARGE_DECIMAL:
        DecimalType type = (DecimalType) types[place];
        left.pointTo(one, oneAt, 0);
        right.pointTo(other, otherAt, 0);
        return left.getDecimal(place, type.precision(), type.scale())
            .compare(right.getDecimal(place, type.precision(), type.scale()));
      default:
        // The high half says where the bytes begin, the low half how many they are.
        long held = Platform.getLong(one, at);
        long otherHeld = Platform.getLong(other, otherValue);
        return compareBytes(one, oneAt + (held >>> 32), (int) held,
            other, otherAt + (otherHeld >>> 32), (int) otherHeld);
    }
  }

  /** Zeros of both signs are one value here, and so are all NaN, which come last. */
  private static int compareDoubles(double one, double other) {
    return one == other ? 0 : Double.compare(one, other);
  }

  private static int compareBytes(
      Object one, long at, int length, Object other, long otherAt, int otherLength) {
    int both = Math.min(length, otherLength);
    int done = 0;
    for (; done + 8 <= both; done += 8) {
      long word = Platform.getLong(one, at + done);
      long otherWord = Platform.getLong(other, otherAt + done);
      if (word != otherWord) {
        return LITTLE_ENDIAN
            ? Long.compareUnsigned(Long.reverseBytes(word), Long.reverseBytes(otherWord))
            : Long.compareUnsigned(word, otherWord);
      }
    }
    for (; done < both; done++) {
      int found = (Platform.getByte(one, at + done) & 0xFF)
          - (Platform.getByte(other, otherAt + done) & 0xFF);
      if (found != 0) {
        return found;
      }
    }
    return Integer.compare(length, otherLength);
  }

  private int compareHashes(
      Object one, long oneAt, int oneSize, Object other, long otherAt, int size) {
    left.pointTo(one, oneAt, Math.max(oneSize, 0));
    hasher.hash(left);
    long low = hasher.low();
    long high = hasher.high();
    right.pointTo(other, otherAt, Math.max(size, 0));
    hasher.hash(right);
    int found = Long.compare(low, hasher.low());
    return found != 0 ? found : Long.compare(high, hasher.high());
  }

  /** How the numbers of `prefixes` are compared. */
  PrefixComparator prefixComparator() {
    switch (places.length == 0 ? RowHasher.LARGE_DECIMAL : kinds[places[0]]) {
      case RowHasher.STRING:
      case RowHasher.BINARY:
        return PrefixComparators.BINARY;
      case RowHasher.FLOAT:
      case RowHasher.DOUBLE:
        return PrefixComparators.DOUBLE;
      default:
        return PrefixComparators.LONG;
    }
  }

  /** A number for each row, which mostly tells without a look at the row. */
  UnsafeExternalRowSorter.PrefixComputer prefixes() {
    return new UnsafeExternalRowSorter.PrefixComputer() {
      private final Prefix found = new Prefix();

      @Override
      public Prefix computePrefix(InternalRow row) {
        found.value = places.length == 0 ? 0 : prefixOf((UnsafeRow) row, places[0]);
        return found;
      }
    };
  }

  private long prefixOf(UnsafeRow row, int place) {
    int kind = kinds[place];
    boolean absent = row.isNullAt(place);
    switch (kind) {
      case RowHasher.BOOLEAN:
        return absent ? Long.MIN_VALUE : row.getBoolean(place) ? 1 : 0;
      case RowHasher.BYTE:
        return absent ? Long.MIN_VALUE : row.getByte(place);
      case RowHasher.SHORT:
        return absent ? Long.MIN_VALUE : row.getShort(place);
      case RowHasher.INT:
        return absent ? Long.MIN_VALUE : row.getInt(place);
      case RowHasher.LONG:
      case RowHasher.SMALL_DECIMAL:
        return absent ? Long.MIN_VALUE : row.getLong(place);
      case RowHasher.FLOAT:
        return absent ? 0 : PrefixComparators.DoublePrefixComparator
            .computePrefix(row.getFloat(place));
      case RowHasher.DOUBLE:
        return absent ? 0 : PrefixComparators.DoublePrefixComparator
            .computePrefix(row.getDouble(place));
      case RowHasher.STRING:
      case RowHasher.BINARY:
        return absent ? 0 : firstBytes(row, place);
      default:
        return 0;
    }
  }

  /** Up to eight bytes, the first the most significant. */
  private static long firstBytes(UnsafeRow row, int place) {
    long held = row.getLong(place);
    long at = row.getBaseOffset() + (held >>> 32);
    int length = Math.min((int) held, 8);
    long found = 0;
    for (int done = 0; done < length; done++) {
      found |= (Platform.getByte(row.getBaseObject(), at + done) & 0xFFL) << (56 - 8 * done);
    }
    return found;
  }
}
