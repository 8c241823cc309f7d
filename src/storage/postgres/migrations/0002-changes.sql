-- Which transaction changed a todo last, and which todos were removed, so that an instance that keeps the list reads
-- what changed since and nothing else. Triggers write it down: changes by hand and of older instances count too.
-- The default is stable: no row is rewritten, and every todo counts as changed now.
ALTER TABLE todos ADD COLUMN changed xid8 NOT NULL DEFAULT pg_current_xact_id();
ALTER TABLE todos ALTER COLUMN changed DROP DEFAULT;
CREATE INDEX todos_changed ON todos (changed);

-- No id is unique: a todo that was removed, put back by hand and removed again has two.
CREATE TABLE todo_tombstones (
  id integer NOT NULL,
  changed xid8 NOT NULL,
  at timestamptz NOT NULL
);
CREATE INDEX todo_tombstones_changed ON todo_tombstones (changed);

-- Tombstones up to this transaction may be gone.
CREATE TABLE todo_purged (changed xid8 NOT NULL);
INSERT INTO todo_purged VALUES ('0');

-- Not xmin, which is that of a subtransaction after a savepoint: snapshots know transactions only. Stable: no snapshot is
-- taken for each row.
CREATE FUNCTION todo_changed() RETURNS trigger LANGUAGE plpgsql STABLE AS $$
BEGIN
  NEW.changed := pg_catalog.pg_current_xact_id();
  RETURN NEW;
END $$;

CREATE FUNCTION todo_removed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
BEGIN
  INSERT INTO todo_tombstones VALUES (OLD.id, pg_current_xact_id(), clock_timestamp());
  RETURN NULL;
END $$;

DO $$
BEGIN
  EXECUTE format('ALTER FUNCTION todo_removed() SET search_path = %I, pg_temp', current_schema());
END $$;

CREATE TRIGGER todo_changed BEFORE INSERT OR UPDATE ON todos
  FOR EACH ROW EXECUTE FUNCTION todo_changed();
CREATE TRIGGER todo_removed AFTER DELETE ON todos
  FOR EACH ROW EXECUTE FUNCTION todo_removed();
CREATE TRIGGER todo_renumbered AFTER UPDATE OF id ON todos
  FOR EACH ROW WHEN (OLD.id <> NEW.id) EXECUTE FUNCTION todo_removed();

-- Logical replication counts too.
ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_changed;
ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_removed;
ALTER TABLE todos ENABLE ALWAYS TRIGGER todo_renumbered;

-- The ids of todos whose change or removal a snapshot does not see. Of more than "most", not all. The settings make it use the
-- indexes whatever the statistics say, which a restored database lacks, and be planned once.
CREATE FUNCTION todo_unseen(kept pg_snapshot, most integer) RETURNS SETOF integer LANGUAGE plpgsql STABLE ROWS 10
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  in_progress xid8[] := ARRAY(SELECT pg_snapshot_xip(kept));
BEGIN
  RETURN QUERY (SELECT id FROM todos WHERE changed >= pg_snapshot_xmax(kept) LIMIT most)
    UNION ALL (SELECT id FROM todos WHERE changed = ANY (in_progress) LIMIT most)
    UNION ALL (SELECT id FROM todo_tombstones WHERE changed >= pg_snapshot_xmax(kept) LIMIT most)
    UNION ALL (SELECT id FROM todo_tombstones WHERE changed = ANY (in_progress) LIMIT most);
END $$;

-- Forgets tombstones that are older than a day. Below the oldest open transaction no id is to come, so that every
-- snapshot of later on is above what is purged.
CREATE FUNCTION todo_purge() RETURNS void LANGUAGE sql SECURITY DEFINER
BEGIN ATOMIC
  WITH purged AS (
    DELETE FROM todo_tombstones
    WHERE at < now() - interval '1 day' AND changed < pg_snapshot_xmin(pg_current_snapshot())
    RETURNING changed
  )
  UPDATE todo_purged SET changed = greatest(todo_purged.changed, latest.changed)
  FROM (SELECT max(changed) AS changed FROM purged) AS latest WHERE latest.changed IS NOT NULL;
END;
