package rocky.spark;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.apache.spark.sql.Column;
import org.apache.spark.sql.DataFrameWriter;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.SaveMode;
import org.apache.spark.sql.functions;

/**
 * A write whose every step is told in one text: Python asks this process once, not for each column.
 *
 * What is done, and in which order, is decided by the caller; expressions are SQL.
 */
public final class StagedWrite {
  private static final ObjectMapper JSON = new ObjectMapper();

  private StagedWrite() {
  }

  /** Write rows as the JSON says; what `HashedParquet.take` tells of them. */
  public static String write(Dataset<Row> frame, String text) throws JsonProcessingException {
    JsonNode told = JSON.readTree(text);
    Dataset<Row> rows = frame;
    for (Map.Entry<String, JsonNode> part : entries(told.get("parts"))) {
      rows = rows.withColumn(part.getKey(), functions.expr(part.getValue().textValue()));
    }
    int pieces = told.get("pieces").intValue();
    String spread = told.get("spread").textValue();
    if (told.get("in_one_task").booleanValue()) {
      rows = rows.coalesce(1);
    } else if (pieces == 1) {
      rows = rows.repartition(1);
    } else if (pieces > 1) {
      rows = rows.repartition(pieces, functions.expr(spread));
    }
    Column[] order = columns(told.get("order"));
    if (order.length > 0) {
      rows = rows.sortWithinPartitions(order);
    }
    Map<String, String> options = new LinkedHashMap<>();
    for (Map.Entry<String, JsonNode> option : entries(told.get("options"))) {
      options.put(option.getKey(), option.getValue().textValue());
    }
    String name = told.get("name").textValue();
    String[] parts = names(told.get("parts"));
    DataFrameWriter<Row> writer = rows.write().options(options);
    if (parts.length > 0) {
      writer = writer.partitionBy(parts);
    }
    try {
      // A try before this one may have left its folder, with nothing in it.
      SaveMode mode = told.get("again").booleanValue() ? SaveMode.Append : SaveMode.ErrorIfExists;
      writer.format(HashedParquet.class.getName()).option(HashedParquet.NAME, name)
          .mode(mode).save(told.get("folder").textValue());
    } finally {
      text = HashedParquet.take(name);
    }
    return text;
  }

  private static List<Map.Entry<String, JsonNode>> entries(JsonNode node) {
    return new ArrayList<>(node.properties());
  }

  private static String[] names(JsonNode node) {
    return entries(node).stream().map(Map.Entry::getKey).toArray(String[]::new);
  }

  private static Column[] columns(JsonNode node) {
    Column[] made = new Column[node.size()];
    for (int place = 0; place < made.length; place++) {
      made[place] = functions.expr(node.get(place).textValue());
    }
    return made;
  }
}
