-- Under a publication FOR ALL TABLES, a table without a replica identity takes neither UPDATE nor DELETE. These have no key.
-- Oldest program: 4
ALTER TABLE todo_schema REPLICA IDENTITY FULL;
ALTER TABLE todo_purged REPLICA IDENTITY FULL;
ALTER TABLE todo_tombstones REPLICA IDENTITY FULL;
