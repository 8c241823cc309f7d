#!/bin/sh
# libsql 0.5.29 (npm), "a better-sqlite3 compatible API": one row, read by get(), all() and iterate().
# Guess: the same object each time, with the columns of the SELECT; with pluck(), its first value.
# Seen: get() adds a member `_metadata` with a duration, so that an answer that is made of the row has it too; all() and
# iterate() do not. pluck() changes nothing for get().
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . libsql@0.5.29
cat >look.cjs <<'JS'
const database = new (require('libsql'))(':memory:')
database.exec("CREATE TABLE t (id integer PRIMARY KEY, title text); INSERT INTO t VALUES (1, 'a')")
const select = () => database.prepare('SELECT * FROM t')
const print = (how, value) => console.log(how, JSON.stringify(value).replace(/("duration":)[^}]+/, '$1…'))
print('get()', select().get())
print('all()', select().all())
print('iterate()', [...select().iterate()])
print('pluck().get()', select().pluck().get())
JS
echo "libsql 0.5.29, Node.js $(node --version)"
node look.cjs | tee seen
[ "$(cat seen)" = 'get() {"id":1,"title":"a","_metadata":{"duration":…}}
all() [{"id":1,"title":"a"}]
iterate() [{"id":1,"title":"a"}]
pluck().get() {"id":1,"title":"a","_metadata":{"duration":…}}' ]
