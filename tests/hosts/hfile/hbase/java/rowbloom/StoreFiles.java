// SPDX-License-Identifier: Apache-2.0
//
// Writes and opens store files as a region server does.

package rowbloom;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.security.Key;
import java.util.List;
import java.util.Locale;
import javax.crypto.spec.SecretKeySpec;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.hbase.HBaseConfiguration;
import org.apache.hadoop.hbase.HConstants;
import org.apache.hadoop.hbase.KeyValue;
import org.apache.hadoop.hbase.fs.HFileSystem;
import org.apache.hadoop.hbase.io.compress.Compression;
import org.apache.hadoop.hbase.io.crypto.Encryption;
import org.apache.hadoop.hbase.io.crypto.KeyProvider;
import org.apache.hadoop.hbase.io.encoding.DataBlockEncoding;
import org.apache.hadoop.hbase.io.hfile.BlockCacheFactory;
import org.apache.hadoop.hbase.io.hfile.CacheConfig;
import org.apache.hadoop.hbase.io.hfile.HFileBlockIndex;
import org.apache.hadoop.hbase.io.hfile.HFileContext;
import org.apache.hadoop.hbase.io.hfile.HFileContextBuilder;
import org.apache.hadoop.hbase.regionserver.BloomType;
import org.apache.hadoop.hbase.regionserver.FilterAnswers;
import org.apache.hadoop.hbase.regionserver.StoreFileWriter;
import org.apache.hadoop.hbase.util.BloomFilterFactory;
import org.apache.hadoop.hbase.util.BloomFilterUtil;
import org.apache.hadoop.hbase.util.Bytes;
import org.apache.hadoop.hbase.util.ChecksumType;
import org.apache.hadoop.hbase.util.Hash;

final class StoreFiles {
  private static final String CODECS =
      "org.apache.hadoop.hbase.io.compress.aircompressor.";

  private static final Configuration CONF = configuration();
  private static final FileSystem FILES = fileSystem();
  // All files share one cache, as in a region server.
  private static final CacheConfig CACHE =
      new CacheConfig(CONF, BlockCacheFactory.createBlockCache(CONF));

  private StoreFiles() {}

  // Gives the same key for all encrypted files.
  public static final class FixedKey implements KeyProvider {
    @Override
    public void init(String parameters) {}

    @Override
    public Key getKey(String alias) {
      return new SecretKeySpec(Bytes.toBytes("0123456789abcdef"), "AES");
    }

    @Override
    public Key[] getKeys(String[] aliases) {
      Key[] keys = new Key[aliases.length];
      for (int i = 0; i < keys.length; ++i) keys[i] = getKey(aliases[i]);
      return keys;
    }
  }

  private static Configuration configuration() {
    Configuration conf = HBaseConfiguration.create();
    conf.set(Compression.SNAPPY_CODEC_CLASS_KEY, CODECS + "SnappyCodec");
    conf.set(Compression.LZ4_CODEC_CLASS_KEY, CODECS + "Lz4Codec");
    conf.set(Compression.ZSTD_CODEC_CLASS_KEY, CODECS + "ZstdCodec");
    conf.set(Compression.LZO_CODEC_CLASS_KEY, CODECS + "LzoCodec");
    for (Compression.Algorithm codec : List.of(Compression.Algorithm.SNAPPY,
        Compression.Algorithm.LZ4, Compression.Algorithm.ZSTD,
        Compression.Algorithm.LZO)) {
      codec.reload(conf);  // The codecs have read HBase's defaults.
    }
    conf.set(HConstants.CRYPTO_KEYPROVIDER_CONF_KEY, FixedKey.class.getName());
    conf.set(HConstants.CRYPTO_MASTERKEY_NAME_CONF_KEY, "master");
    return conf;
  }

  static Configuration conf() {
    return CONF;
  }

  // Verifies HBase's checksums, and has none of its own.
  private static FileSystem fileSystem() {
    try {
      return new HFileSystem(CONF, true);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static FilterAnswers open(java.nio.file.Path file) throws IOException {
    return new FilterAnswers(CONF, FILES, new Path(file.toUri()), CACHE,
        Cells.FAMILY);
  }

  static void write(Spec spec, List<KeyValue> cells, java.nio.file.Path file)
      throws IOException {
    Configuration conf = new Configuration(CONF);
    conf.set(BloomFilterFactory.IO_STOREFILE_BLOOM_BLOCK_SIZE,
        spec.get("bloomBlock"));
    conf.set(BloomFilterFactory.IO_STOREFILE_BLOOM_ERROR_RATE, spec.get("err"));
    conf.set(BloomFilterFactory.IO_STOREFILE_BLOOM_MAX_FOLD, spec.get("fold"));
    conf.set(BloomFilterFactory.IO_STOREFILE_BLOOM_ENABLED, spec.get("bloom"));
    conf.set(BloomFilterFactory.IO_STOREFILE_DELETEFAMILY_BLOOM_ENABLED,
        spec.get("delfam"));
    conf.set(BloomFilterUtil.PREFIX_LENGTH_KEY, spec.get("prefix"));
    conf.set("hbase.hash.type", spec.get("hash"));
    if (Hash.getHashType(conf) < 0) {
      throw new IllegalArgumentException("hash=" + spec.get("hash"));
    }
    conf.set(HFileBlockIndex.MAX_CHUNK_SIZE_KEY, spec.get("indexMax"));
    conf.set(HFileBlockIndex.MIN_INDEX_NUM_ENTRIES_KEY, spec.get("indexMin"));

    StoreFileWriter writer =
        new StoreFileWriter.Builder(conf, new CacheConfig(conf), FILES)
            .withFilePath(new Path(file.toUri()))
            .withBloomType(BloomType.valueOf(spec.get("type")))
            .withMaxKeyCount(cells.size())
            .withFileContext(context(spec, conf))
            .build();
    for (KeyValue cell : cells) writer.append(cell);
    writer.appendMetadata(7, false);
    writer.close();
  }

  private static HFileContext context(Spec spec, Configuration conf)
      throws IOException {
    String tags = spec.get("tags");
    HFileContextBuilder builder = new HFileContextBuilder()
        .withCompression(Compression.getCompressionAlgorithmByName(
            spec.get("comp").toLowerCase(Locale.ROOT)))
        .withDataBlockEncoding(DataBlockEncoding.valueOf(spec.get("enc")))
        .withChecksumType(ChecksumType.nameToType(spec.get("ck")))
        .withBytesPerCheckSum(spec.getInt("bpc"))
        .withBlockSize(spec.getInt("blk"))
        .withHBaseCheckSum(true)
        .withIncludesMvcc(spec.getBoolean("mvcc"))
        .withIncludesTags(!tags.equals("none"))
        .withCompressTags(tags.equals("compressed"))
        .withColumnFamily(Cells.FAMILY)
        .withTableName(Bytes.toBytes("t"))
        .withCellComparator(Cells.comparator(spec))
        .withCreateTime(1600000000000L);
    if (spec.getBoolean("encrypted")) {
      builder.withEncryptionContext(Encryption.newContext(conf)
          .setCipher(Encryption.getCipher(conf, "AES"))
          .setKey(new FixedKey().getKey("data")));
    }
    return builder.build();
  }
}
