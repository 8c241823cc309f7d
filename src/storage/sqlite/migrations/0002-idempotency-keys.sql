-- Creates that may be repeated, for a day: whose key and what was sent, as SHA-256, and the id of what was made. The todo may be
-- gone by then.
CREATE TABLE idempotency_keys (
  key TEXT PRIMARY KEY,
  body TEXT NOT NULL,
  todo_id INTEGER NOT NULL,
  at INTEGER NOT NULL DEFAULT (unixepoch())
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_keys_at ON idempotency_keys (at);
