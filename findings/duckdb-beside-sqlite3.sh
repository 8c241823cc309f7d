#!/bin/sh
# DuckDB 1.5.5 with its extension sqlite_scanner (PyPI), in one Python process with the sqlite3 of Python, on one file.
# Guess: the second writer waits for the first, or is refused: "database is locked".
# Seen: each has a SQLite of its own, and locks of the kernel belong to the process: both write at once. With a
# write-ahead log both commits succeed, Python's row is gone, and integrity_check is content; without one DuckDB's commit
# is an error, and Python's row is gone too.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check duckdb==1.5.5 duckdb-extension-sqlite-scanner==1.5.5
cat >look.py <<'PY'
import pathlib, sqlite3
import duckdb, duckdb_extension_sqlite_scanner
extension = next(pathlib.Path(duckdb_extension_sqlite_scanner.__path__[0]).rglob("*.duckdb_extension"))

def outcome(execute, statement):
    try:
        execute(statement)
        return "done"
    except Exception as error:
        return str(error)

for mode in ("wal", "delete"):
    python = sqlite3.connect(f"{mode}.db", isolation_level=None, timeout=1)
    python.execute(f"PRAGMA journal_mode = {mode}")
    python.execute("CREATE TABLE t (x text)")
    other = duckdb.connect()
    other.execute(f"LOAD '{extension}'")
    other.execute(f"ATTACH '{mode}.db' AS s (TYPE sqlite)")
    other.execute("BEGIN")
    other.execute("INSERT INTO s.t VALUES ('of DuckDB')")
    print(f"{mode}: Python's INSERT:", outcome(python.execute, "INSERT INTO t VALUES ('of Python')"))
    print(f"{mode}: DuckDB's COMMIT:", outcome(other.execute, "COMMIT"))
    python.close()
    other.close()
PY
cat >rows.py <<'PY'
import sqlite3
for mode in ("wal", "delete"):
    database = sqlite3.connect(f"{mode}.db")
    print(f"{mode}: rows", database.execute("SELECT x FROM t").fetchall(), *database.execute("PRAGMA integrity_check").fetchone())
PY
env/bin/python -c 'import duckdb, sqlite3; print("DuckDB", duckdb.__version__, "beside SQLite", sqlite3.sqlite_version)'
{ env/bin/python look.py; env/bin/python rows.py; } | tee seen
grep -qx "wal: Python's INSERT: done" seen
grep -qx "wal: DuckDB's COMMIT: done" seen
grep -qx "wal: rows \[('of DuckDB',)\] ok" seen
grep -qx "delete: Python's INSERT: done" seen
grep -q "^delete: DuckDB's COMMIT: .*disk I/O error" seen
grep -qx "delete: rows \[('of DuckDB',)\] ok" seen
