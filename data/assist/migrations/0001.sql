-- Clusters, discovery environments, hosts and tokens as JSON documents (src/service/records.h).
CREATE TABLE record (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  body TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;

CREATE TABLE event (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  at INTEGER NOT NULL, -- milliseconds since 1970
  name TEXT NOT NULL,
  severity INTEGER NOT NULL, -- 0 info, 1 warning, 2 error, 3 critical
  cluster TEXT NOT NULL,
  infra_env TEXT NOT NULL,
  host TEXT NOT NULL,
  message TEXT NOT NULL,
  props TEXT NOT NULL -- a JSON object
);
CREATE INDEX event_of_cluster ON event (cluster, number);
CREATE INDEX event_of_infra_env ON event (infra_env, number);

-- Files of clusters, for instance bootstrap.ign.
CREATE TABLE file (
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  content BLOB NOT NULL,
  PRIMARY KEY (owner, name)
);
