package rocky.spark;

import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.IntStream;

import org.apache.spark.sql.catalyst.InternalRow;
import org.apache.spark.sql.catalyst.expressions.SpecializedGetters;
import org.apache.spark.sql.catalyst.expressions.UnsafeRow;
import org.apache.spark.sql.catalyst.expressions.XXH64;
import org.apache.spark.sql.catalyst.util.ArrayData;
import org.apache.spark.sql.catalyst.util.MapData;
import org.apache.spark.sql.types.ArrayType;
import org.apache.spark.sql.types.BinaryType;
import org.apache.spark.sql.types.BooleanType;
import org.apache.spark.sql.types.ByteType;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DateType;
import org.apache.spark.sql.types.DayTimeIntervalType;
import org.apache.spark.sql.types.DecimalType;
import org.apache.spark.sql.types.DoubleType;
import org.apache.spark.sql.types.FloatType;
import org.apache.spark.sql.types.IntegerType;
import org.apache.spark.sql.types.LongType;
import org.apache.spark.sql.types.MapType;
import org.apache.spark.sql.types.ShortType;
import org.apache.spark.sql.types.StringType;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.types.TimestampNTZType;
import org.apache.spark.sql.types.TimestampType;
import org.apache.spark.sql.types.YearMonthIntervalType;
import org.apache.spark.unsafe.Platform;
import org.apache.spark.unsafe.types.UTF8String;

/**
 * The rows hash of `rocky.spark.rows_hash`, bit by bit, over rows as Spark's writers get them.
 *
 * The expressions there are the definition; this is the same arithmetic without expressions. A
 * row is a list of flags (which values are null, which zeros are negative), packed 31 to a word,
 * and then its values. Both lanes see them all, from two seeds, and are computed side by side: most
 * of the work of a value does not depend on the seed. One thread at a time.
 */
public final class RowHasher {
  private static final boolean LITTLE_ENDIAN =
      ByteOrder.nativeOrder().equals(ByteOrder.LITTLE_ENDIAN);

  // Of xxHash.
  private static final long P1 = 0x9E3779B185EBCA87L;
  private static final long P2 = 0xC2B2AE3D27D4EB4FL;
  private static final long P3 = 0x165667B19E3779F9L;
  private static final long P4 = 0x85EBCA77C2B2AE63L;
  private static final long P5 = 0x27D4EB2F165667C5L;
  private static final int STRIPE = 32;

  /** Where Spark's expression begins; the other lane hashes a 1 first. */
  private static final long SEED = 42L;
  private static final long OTHER_SEED = XXH64.hashInt(1, SEED);
  private static final int FLAGS_A_WORD = 31;
  private static final int WIDEST_LONG = 18;

  static final int BOOLEAN = 0;
  static final int BYTE = 1;
  static final int SHORT = 2;
  static final int INT = 3;
  static final int LONG = 4;
  static final int FLOAT = 5;
  static final int DOUBLE = 6;
  static final int SMALL_DECIMAL = 7;
  static final int LARGE_DECIMAL = 8;
  static final int STRING = 9;
  static final int BINARY = 10;
  static final int STRUCT = 11;
  private static final int ARRAY = 12;
  private static final int MAP = 13;

  private final Member[] members;
  private final int[] kinds;
  /** The places of columns whose zeros have a flag of their own. */
  private final int[] doubles;
  private final int[] floats;
  private final int flagCount;
  private final boolean plain;
  private final Lanes lanes = new Lanes();

  public RowHasher(StructType schema) {
    StructField[] fields = schema.fields();
    members = new Member[fields.length];
    kinds = new int[fields.length];
    for (int place = 0; place < fields.length; place++) {
      members[place] = new Member(fields[place].dataType());
      kinds[place] = members[place].kind;
    }
    doubles = placesOf(DOUBLE);
    floats = placesOf(FLOAT);
    flagCount = kinds.length + doubles.length + floats.length;
    plain = Arrays.stream(kinds).noneMatch(kind -> kind == STRUCT);
  }

  /** What a type is to a hash, and to an order. */
  static int kindOf(DataType type) {
    if (type instanceof BooleanType) {
      return BOOLEAN;
    } else if (type instanceof ByteType) {
      return BYTE;
    } else if (type instanceof ShortType) {
      return SHORT;
    } else if (type instanceof IntegerType || type instanceof DateType
        || type instanceof YearMonthIntervalType) {
      return INT;
    } else if (type instanceof LongType || type instanceof TimestampType
        || type instanceof TimestampNTZType || type instanceof DayTimeIntervalType) {
      return LONG;
    } else if (type instanceof FloatType) {
      return FLOAT;
    } else if (type instanceof DoubleType) {
      return DOUBLE;
    } else if (type instanceof DecimalType) {
      return ((DecimalType) type).precision() <= WIDEST_LONG ? SMALL_DECIMAL : LARGE_DECIMAL;
    } else if (type instanceof StringType) {
      return STRING;
    } else if (type instanceof BinaryType) {
      return BINARY;
    } else if (type instanceof StructType) {
      return STRUCT;
    } else if (type instanceof ArrayType) {
      return ARRAY;
    } else if (type instanceof MapType) {
      return MAP;
    }
    throw new IllegalArgumentException("rows with a " + type.simpleString()
        + " are hashed by Spark's expressions");
  }

  private int[] placesOf(int kind) {
    return IntStream.range(0, kinds.length).filter(place -> kinds[place] == kind).toArray();
  }

  /** The first lane of the row that was hashed last. */
  public long low() {
    return lanes.low;
  }

  /** The second lane of it. */
  public long high() {
    return lanes.high;
  }

  public void hash(InternalRow row) {
    lanes.start();
    if (row instanceof UnsafeRow) {
      UnsafeRow held = (UnsafeRow) row;
      if (plain && !held.anyNull() && !hasNegativeZero(held)) {
        for (int left = flagCount; left > 0; left -= FLAGS_A_WORD) {
          lanes.addInt(0);
        }
      } else {
        addFlags(held);
      }
      addValues(held);
    } else {
      addFlags(row);
      for (int place = 0; place < members.length; place++) {
        members[place].addValue(lanes, row, place);
      }
    }
  }

  private boolean hasNegativeZero(UnsafeRow row) {
    for (int place : doubles) {
      if (row.getLong(place) == Long.MIN_VALUE) {
        return true;
      }
    }
    for (int place : floats) {
      if (row.getInt(place) == Integer.MIN_VALUE) {
        return true;
      }
    }
    return false;
  }

  private void addFlags(InternalRow row) {
    for (int place = 0; place < members.length; place++) {
      members[place].addFlags(lanes, row, place);
    }
    lanes.endFlags();
  }

  /**
   * The values of a row as Spark mostly holds it; the rare kinds take the general way.
   *
   * Where most of the time goes: the two hashes are kept in variables, and nothing is made.
   */
  private void addValues(UnsafeRow row) {
    Object base = row.getBaseObject();
    long start = row.getBaseOffset();
    long first = start + UnsafeRow.calculateBitSetWidthInBytes(kinds.length);
    long low = lanes.low;
    long high = lanes.high;
    for (int place = 0; place < kinds.length; place++) {
      long at = first + 8L * place;
      if ((Platform.getLong(base, start + 8L * (place >> 6)) >> place & 1) != 0) {
        continue;
      }
      long mixed;
      switch (kinds[place]) {
        case INT:
          mixed = Lanes.mixInt(Platform.getInt(base, at));
          low = Lanes.joinInt(low, mixed);
          high = Lanes.joinInt(high, mixed);
          break;
        case LONG:
        case SMALL_DECIMAL:
          mixed = Lanes.mixLong(Platform.getLong(base, at));
          low = Lanes.joinLong(low, mixed);
          high = Lanes.joinLong(high, mixed);
          break;
        case DOUBLE:
          mixed = Lanes.mixLong(Lanes.bitsOf(Platform.getDouble(base, at)));
          low = Lanes.joinLong(low, mixed);
          high = Lanes.joinLong(high, mixed);
          break;
        case STRING:
        case BINARY:
        case LARGE_DECIMAL:
          // The high half says where the bytes begin, the low half how many they are.
          long held = Platform.getLong(base, at);
          lanes.low = low;
          lanes.high = high;
          lanes.addBytes(base, start + (int) (held >>> 32), (int) held);
          low = lanes.low;
          high = lanes.high;
          break;
        default:
          lanes.low = low;
          lanes.high = high;
          members[place].addValue(lanes, row, place);
          low = lanes.low;
          high = lanes.high;
      }
    }
    lanes.low = low;
    lanes.high = high;
  }

  /** Both hashes of something under way, and the flags that are not hashed yet. */
  private static final class Lanes {
    long low;
    long high;
    private int word;
    private int flags;

    void start() {
      low = SEED;
      high = OTHER_SEED;
      word = 0;
      flags = 0;
    }

    void addFlag(boolean flag) {
      if (flag) {
        word |= 1 << flags;
      }
      if (++flags == FLAGS_A_WORD) {
        addInt(word);
        word = 0;
        flags = 0;
      }
    }

    void endFlags() {
      if (flags > 0) {
        addInt(word);
      }
    }

    void addInt(int value) {
      long mixed = mixInt(value);
      low = joinInt(low, mixed);
      high = joinInt(high, mixed);
    }

    void addLong(long value) {
      addLongs(value, value);
    }

    /** Each lane its own value. */
    void addLongs(long one, long other) {
      low = joinLong(low, mixLong(one));
      high = joinLong(high, mixLong(other));
    }

    void addBoolean(boolean value) {
      addInt(value ? 1 : 0);
    }

    void addFloat(float value) {
      // Zeros of both signs are one value here, and so are all NaN.
      addInt(value == 0.0f ? 0 : Float.floatToIntBits(value));
    }

    void addDouble(double value) {
      addLong(bitsOf(value));
    }

    void addBytes(Object base, long offset, int length) {
      if (length >= STRIPE || !LITTLE_ENDIAN) {
        low = XXH64.hashUnsafeBytes(base, offset, length, low);
        high = XXH64.hashUnsafeBytes(base, offset, length, high);
        return;
      }
      long one = low + P5 + length;
      long other = high + P5 + length;
      long end = offset + length;
      long at = offset;
      for (; at + 8 <= end; at += 8) {
        long mixed = mixLong(Platform.getLong(base, at));
        one = Long.rotateLeft(one ^ mixed, 27) * P1 + P4;
        other = Long.rotateLeft(other ^ mixed, 27) * P1 + P4;
      }
      if (at + 4 <= end) {
        long mixed = mixInt(Platform.getInt(base, at));
        one = Long.rotateLeft(one ^ mixed, 23) * P2 + P3;
        other = Long.rotateLeft(other ^ mixed, 23) * P2 + P3;
        at += 4;
      }
      for (; at < end; at++) {
        long mixed = (Platform.getByte(base, at) & 0xFFL) * P5;
        one = Long.rotateLeft(one ^ mixed, 11) * P1;
        other = Long.rotateLeft(other ^ mixed, 11) * P1;
      }
      low = finish(one);
      high = finish(other);
    }

    static long bitsOf(double value) {
      return value == 0.0d ? 0L : Double.doubleToLongBits(value);
    }

    static long mixInt(int value) {
      return (value & 0xFFFFFFFFL) * P1;
    }

    static long mixLong(long value) {
      return Long.rotateLeft(value * P2, 31) * P1;
    }

    static long joinInt(long hash, long mixed) {
      return finish(Long.rotateLeft((hash + P5 + 4) ^ mixed, 23) * P2 + P3);
    }

    static long joinLong(long hash, long mixed) {
      return finish(Long.rotateLeft((hash + P5 + 8) ^ mixed, 27) * P1 + P4);
    }

    private static long finish(long hash) {
      long mixed = (hash ^ (hash >>> 33)) * P2;
      mixed = (mixed ^ (mixed >>> 29)) * P3;
      return mixed ^ (mixed >>> 32);
    }
  }

  /** One column, field, element, key or value, by its type. */
  private static final class Member {
    final int kind;
    private final int precision;
    private final int scale;
    /** The fields of a struct, the element of an array, or the key and the value of a map. */
    private final Member[] parts;
    /** Of one element or entry. */
    private final Lanes inner = new Lanes();

    Member(DataType type) {
      kind = kindOf(type);
      precision = kind == SMALL_DECIMAL || kind == LARGE_DECIMAL
          ? ((DecimalType) type).precision() : 0;
      scale = precision > 0 ? ((DecimalType) type).scale() : 0;
      parts = partsOf(type);
    }

    private static Member[] partsOf(DataType type) {
      if (type instanceof StructType) {
        StructField[] fields = ((StructType) type).fields();
        Member[] made = new Member[fields.length];
        for (int place = 0; place < fields.length; place++) {
          made[place] = new Member(fields[place].dataType());
        }
        return made;
      } else if (type instanceof ArrayType) {
        return new Member[] {new Member(((ArrayType) type).elementType())};
      } else if (type instanceof MapType) {
        MapType map = (MapType) type;
        return new Member[] {new Member(map.keyType()), new Member(map.valueType())};
      }
      return new Member[0];
    }

    /** The flags of a value. Without a holder it is part of a struct that is null. */
    void addFlags(Lanes lanes, SpecializedGetters holder, int place) {
      boolean absent = holder == null || holder.isNullAt(place);
      lanes.addFlag(absent);
      if (kind == FLOAT || kind == DOUBLE) {
        lanes.addFlag(!absent && isNegativeZero(holder, place));
      } else if (kind == STRUCT) {
        InternalRow struct = absent ? null : holder.getStruct(place, parts.length);
        for (int part = 0; part < parts.length; part++) {
          parts[part].addFlags(lanes, struct, part);
        }
      }
    }

    private boolean isNegativeZero(SpecializedGetters holder, int place) {
      return kind == FLOAT
          ? Float.floatToRawIntBits(holder.getFloat(place)) == Integer.MIN_VALUE
          : Double.doubleToRawLongBits(holder.getDouble(place)) == Long.MIN_VALUE;
    }

    /** The value, if there is one: its flag has told of a null. */
    void addValue(Lanes lanes, SpecializedGetters holder, int place) {
      if (holder.isNullAt(place)) {
        return;
      }
      switch (kind) {
        case BOOLEAN:
          lanes.addBoolean(holder.getBoolean(place));
          break;
        case BYTE:
          lanes.addInt(holder.getByte(place));
          break;
        case SHORT:
          lanes.addInt(holder.getShort(place));
          break;
        case INT:
          lanes.addInt(holder.getInt(place));
          break;
        case LONG:
          lanes.addLong(holder.getLong(place));
          break;
        case FLOAT:
          lanes.addFloat(holder.getFloat(place));
          break;
        case DOUBLE:
          lanes.addDouble(holder.getDouble(place));
          break;
        case SMALL_DECIMAL:
          lanes.addLong(holder.getDecimal(place, precision, scale).toUnscaledLong());
          break;
        case LARGE_DECIMAL:
          addArray(lanes, holder.getDecimal(place, precision, scale)
              .toJavaBigDecimal().unscaledValue().toByteArray());
          break;
        case STRING:
          UTF8String text = holder.getUTF8String(place);
          lanes.addBytes(text.getBaseObject(), text.getBaseOffset(), text.numBytes());
          break;
        case BINARY:
          addArray(lanes, holder.getBinary(place));
          break;
        case STRUCT:
          InternalRow struct = holder.getStruct(place, parts.length);
          for (int part = 0; part < parts.length; part++) {
            parts[part].addValue(lanes, struct, part);
          }
          break;
        case ARRAY:
          addElements(lanes, holder.getArray(place));
          break;
        default:
          addEntries(lanes, holder.getMap(place));
      }
    }

    private static void addArray(Lanes lanes, byte[] bytes) {
      lanes.addBytes(bytes, Platform.BYTE_ARRAY_OFFSET, bytes.length);
    }

    private void addElements(Lanes lanes, ArrayData array) {
      Member element = parts[0];
      int count = array.numElements();
      lanes.addInt(count);
      if (element.kind >= STRUCT) {
        for (int place = 0; place < count; place++) {
          inner.start();
          element.addFlags(inner, array, place);
          inner.endFlags();
          element.addValue(inner, array, place);
          lanes.addLongs(inner.low, inner.high);
        }
        return;
      }
      boolean nulls = false;
      boolean negativeZeros = false;
      boolean floats = element.kind == FLOAT || element.kind == DOUBLE;
      for (int place = 0; place < count; place++) {
        element.addValue(lanes, array, place);
        boolean absent = array.isNullAt(place);
        nulls |= absent;
        negativeZeros |= floats && !absent && element.isNegativeZero(array, place);
      }
      for (int place = 0; nulls && place < count; place++) {
        lanes.addBoolean(array.isNullAt(place));
      }
      for (int place = 0; negativeZeros && place < count; place++) {
        lanes.addBoolean(!array.isNullAt(place) && element.isNegativeZero(array, place));
      }
    }

    /** Entries in the order of their hashes: maps have none of their own. */
    private void addEntries(Lanes lanes, MapData map) {
      int count = map.numElements();
      ArrayData keys = map.keyArray();
      ArrayData values = map.valueArray();
      long[] lows = new long[count];
      long[] highs = new long[count];
      for (int place = 0; place < count; place++) {
        inner.start();
        parts[0].addFlags(inner, keys, place);
        parts[1].addFlags(inner, values, place);
        inner.endFlags();
        parts[0].addValue(inner, keys, place);
        parts[1].addValue(inner, values, place);
        lows[place] = inner.low;
        highs[place] = inner.high;
      }
      Arrays.sort(lows);
      Arrays.sort(highs);
      lanes.addInt(count);
      for (int place = 0; place < count; place++) {
        lanes.addLongs(lows[place], highs[place]);
      }
    }
  }
}
