CREATE TABLE note (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL UNIQUE,
  due BIGINT
);
CREATE TABLE counter (name TEXT PRIMARY KEY, value BIGINT NOT NULL);
INSERT INTO counter (name, value) VALUES ('hits', 0);
