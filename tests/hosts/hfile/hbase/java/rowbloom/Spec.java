// SPDX-License-Identifier: Apache-2.0
//
// Describes a file: "name=NAME key=value ...", one line for each.

package rowbloom;

import java.util.LinkedHashMap;
import java.util.Map;

final class Spec {
  // All keys with their default values, which are HBase's own where it has one.
  // asked=false: no questions.
  private static final String DEFAULTS =
      "name= type=ROW prefix=0 bloomBlock=131072 err=0.01 fold=7 hash=murmur"
          + " bloom=true delfam=true comp=NONE enc=NONE ck=CRC32C bpc=16384"
          + " blk=65536 indexMax=131072 indexMin=16 meta=false"
          + " encrypted=false keys=text rows=300 quals=1 emptyQual=false"
          + " versions=1 value=8 delEvery=0 tags=none mvcc=false"
          + " asked=true";

  private final Map<String, String> values = new LinkedHashMap<>();

  Spec(String line) {
    put(DEFAULTS, true);
    put(line, false);
    if (get("name").isEmpty()) {
      throw new IllegalArgumentException("no name in '" + line + "'");
    }
  }

  private void put(String line, boolean isNew) {
    for (String field : line.trim().split(" +")) {
      String[] pair = field.split("=", 2);
      if (pair.length != 2 || !isNew && !values.containsKey(pair[0])) {
        throw new IllegalArgumentException(
            "'" + field + "' is none of: " + DEFAULTS);
      }
      values.put(pair[0], pair[1]);
    }
  }

  String get(String key) {
    return values.get(key);
  }

  int getInt(String key) {
    return Integer.parseInt(get(key));
  }

  boolean getBoolean(String key) {
    return Boolean.parseBoolean(get(key));
  }

  @Override
  public String toString() {
    StringBuilder line = new StringBuilder();
    values.forEach((key, value) ->
        line.append(key).append('=').append(value).append(' '));
    return line.toString().trim();
  }
}
