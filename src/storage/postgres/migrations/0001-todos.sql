-- Ids are never reused (a sequence is not rolled back) and stay in the 32-bit range of `integer`.
CREATE TABLE categories (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id >= 1),
  name text NOT NULL
);

CREATE TABLE todos (
  id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY CHECK (id >= 1),
  title text NOT NULL CHECK (char_length(title) BETWEEN 1 AND 100),
  done boolean NOT NULL DEFAULT false,
  category_id integer NOT NULL REFERENCES categories (id)
);
