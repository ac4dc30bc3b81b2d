// A catalogue of tables that have a schema and no rows, for analysis only.
// Compiled when needed by the Java compiler that Spark itself carries for generated code
// (Janino): hence no generics and no annotations.

import java.util.Collections;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.spark.sql.catalyst.analysis.NoSuchTableException;
import org.apache.spark.sql.connector.catalog.Identifier;
import org.apache.spark.sql.connector.catalog.SupportsRead;
import org.apache.spark.sql.connector.catalog.Table;
import org.apache.spark.sql.connector.catalog.TableCapability;
import org.apache.spark.sql.connector.catalog.TableCatalog;
import org.apache.spark.sql.connector.catalog.TableChange;
import org.apache.spark.sql.connector.read.ScanBuilder;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;

public class StubCatalog implements TableCatalog {
  // Shared by all catalogues of this class: Spark makes one for each catalogue name.
  private static final Map SCHEMAS = new HashMap();
  private String name;

  public void put(String path, StructType schema) {
    SCHEMAS.put(path.toLowerCase(), schema);
  }

  public void initialize(String name, CaseInsensitiveStringMap options) {
    this.name = name;
  }

  public String name() {
    return name;
  }

  public String[] defaultNamespace() {
    return new String[] {"default"};
  }

  public Table loadTable(Identifier identifier) throws NoSuchTableException {
    StringBuilder path = new StringBuilder(name);
    String[] namespace = identifier.namespace();
    for (int i = 0; i < namespace.length; i++) {
      path.append('.').append(namespace[i]);
    }
    path.append('.').append(identifier.name());
    Object schema = SCHEMAS.get(path.toString().toLowerCase());
    if (schema == null) {
      throw new NoSuchTableException(identifier);
    }
    return new StubTable(path.toString(), (StructType) schema);
  }

  public Identifier[] listTables(String[] namespace) {
    return new Identifier[0];
  }

  public Table alterTable(Identifier identifier, TableChange[] changes) {
    throw new UnsupportedOperationException("a stub cannot change");
  }

  public boolean dropTable(Identifier identifier) {
    return false;
  }

  public void renameTable(Identifier from, Identifier to) {
    throw new UnsupportedOperationException("a stub cannot change");
  }
}

class StubTable implements Table, SupportsRead {
  private final String name;
  private final StructType schema;

  StubTable(String name, StructType schema) {
    this.name = name;
    this.schema = schema;
  }

  public String name() {
    return name;
  }

  public StructType schema() {
    return schema;
  }

  public Set capabilities() {
    return Collections.singleton(TableCapability.BATCH_READ);
  }

  public ScanBuilder newScanBuilder(CaseInsensitiveStringMap options) {
    throw new UnsupportedOperationException("a stub has no rows");
  }
}
