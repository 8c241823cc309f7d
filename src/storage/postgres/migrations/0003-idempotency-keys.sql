-- Creates that may be repeated, for a day: whose key and what was sent, as SHA-256, and the id of what was made. The todo may be
-- gone by then. The unique index makes a create wait for another one with its key.
CREATE TABLE idempotency_keys (
  key text COLLATE "C" PRIMARY KEY,
  body text NOT NULL,
  todo_id integer NOT NULL,
  at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX idempotency_keys_at ON idempotency_keys (at);
