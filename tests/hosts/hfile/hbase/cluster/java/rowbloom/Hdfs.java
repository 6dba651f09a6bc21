// SPDX-License-Identifier: Apache-2.0
//
// A name node and data nodes in this process, with files in a local directory.

package rowbloom;

import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.DFSConfigKeys;
import org.apache.hadoop.hdfs.server.datanode.DataNode;
import org.apache.hadoop.hdfs.server.namenode.NameNode;
import org.apache.hadoop.metrics2.lib.DefaultMetricsSystem;

final class Hdfs {
  private static final String ANY_PORT = "127.0.0.1:0";

  private final NameNode nameNode;
  private final List<DataNode> dataNodes = new ArrayList<>();

  // Makes `conf` name the file system that it starts.
  Hdfs(File directory, int dataNodeCount, Configuration conf)
      throws IOException {
    DefaultMetricsSystem.setMiniClusterMode(true);  // Several nodes a process.
    FileSystem.setDefaultUri(conf, "hdfs://" + ANY_PORT);
    conf.set(DFSConfigKeys.DFS_NAMENODE_HTTP_ADDRESS_KEY, ANY_PORT);
    conf.set(DFSConfigKeys.DFS_NAMENODE_NAME_DIR_KEY,
        new File(directory, "name").toURI() + "");
    NameNode.format(conf);
    nameNode = NameNode.createNameNode(new String[0], conf);
    FileSystem.setDefaultUri(conf,
        "hdfs://127.0.0.1:" + nameNode.getNameNodeAddress().getPort());
    for (int i = 0; i < dataNodeCount; ++i) {
      Configuration own = new Configuration(conf);
      own.set(DFSConfigKeys.DFS_DATANODE_DATA_DIR_KEY,
          new File(directory, "data" + i).toURI() + "");
      own.set(DFSConfigKeys.DFS_DATANODE_ADDRESS_KEY, ANY_PORT);
      own.set(DFSConfigKeys.DFS_DATANODE_HTTP_ADDRESS_KEY, ANY_PORT);
      own.set(DFSConfigKeys.DFS_DATANODE_IPC_ADDRESS_KEY, ANY_PORT);
      dataNodes.add(DataNode.createDataNode(new String[0], own));
    }
  }

  void stop() {
    dataNodes.forEach(DataNode::shutdown);
    nameNode.stop();
  }
}
