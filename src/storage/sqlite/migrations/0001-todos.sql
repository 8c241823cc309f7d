-- Ids are never reused (AUTOINCREMENT) and stay in the 32-bit range. A named check says which rule refused.
CREATE TABLE categories (
  id INTEGER PRIMARY KEY AUTOINCREMENT CONSTRAINT ids_exhausted CHECK (id BETWEEN 1 AND 2147483647),
  name TEXT NOT NULL
) STRICT;

CREATE TABLE todos (
  id INTEGER PRIMARY KEY AUTOINCREMENT CONSTRAINT ids_exhausted CHECK (id BETWEEN 1 AND 2147483647),
  title TEXT NOT NULL CHECK (length(title) BETWEEN 1 AND 100),
  done INTEGER NOT NULL DEFAULT 0 CHECK (done IN (0, 1)),
  category_id INTEGER NOT NULL REFERENCES categories (id)
) STRICT;
