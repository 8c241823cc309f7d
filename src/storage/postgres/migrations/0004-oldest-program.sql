-- The oldest program that may work with a schema that is newer than itself, by its schema version. Programs of before do not
-- look, and refuse this version.
ALTER TABLE todo_schema ADD COLUMN oldest_program integer NOT NULL DEFAULT 4;
