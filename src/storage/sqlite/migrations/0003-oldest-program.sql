-- One row: the oldest program that may work with a schema that is newer than itself, by its schema version. Programs of before
-- do not look, and refuse this version.
CREATE TABLE todo_schema (oldest_program INTEGER NOT NULL) STRICT;
