#!/bin/sh
# RSQLite 2.2.20 of Debian 12 (2.4.6 of sid does the same) beside Python's sqlite3, which writes every 5 ms.
# Guess: with sqliteSetBusyHandler(10000), each append waits for its turn: dbAppendTable() and dbWriteTable(append = TRUE).
# Seen: dbWriteTable() fails at once with "database is locked" where Python has written meanwhile: its transaction reads
# first, and SQLite asks no busy handler for a snapshot that is old (SQLITE_BUSY_SNAPSHOT). Needs Debian 12 without R.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir packages
(cd packages && apt-get download -qq $(apt-get install -s --no-install-recommends r-cran-rsqlite | awk '/^Inst/ { print $2 }') \
  >../log 2>&1 || cat ../log)
for package in packages/*.deb; do dpkg-deb -x "$package" root; done
rm root/usr/lib/R/etc/Renviron
: >root/usr/lib/R/etc/Renviron
cat >r <<SH
#!/bin/sh
export R_HOME=$work/root/usr/lib/R R_LIBS=$work/root/usr/lib/R/site-library EDITOR=vi PAGER=cat
lib=$work/root/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=\$R_HOME/lib:\$lib:\$lib/blas:\$lib/lapack
exec "\$R_HOME/bin/exec/R" --no-echo --no-restore --no-environ --file=\$1
SH
cat >look.R <<'R'
library(DBI)
file <- dbConnect(RSQLite::SQLite(), "list.db")
RSQLite::sqliteSetBusyHandler(file, 10000L)
cat("RSQLite ", as.character(packageVersion("RSQLite")), ", SQLite ", RSQLite::rsqliteVersion()[["library"]], "\n", sep = "")
rows <- data.frame(x = "of R")
for (name in c("dbAppendTable", "dbWriteTable")) {
  said <- replicate(50, tryCatch({
    if (name == "dbAppendTable") dbAppendTable(file, "t", rows) else dbWriteTable(file, "t", rows, append = TRUE)
    "ok"
  }, error = conditionMessage))
  cat(name, "locked in", sum(said == "database is locked"), "of", sum(said %in% c("ok", "database is locked")), "\n")
}
dbDisconnect(file)
R
cat >look.py <<'PY'
import sqlite3
import subprocess
import time

file = sqlite3.connect('list.db', isolation_level=None, timeout=10)
file.execute('PRAGMA journal_mode = WAL')
file.execute('CREATE TABLE t (x TEXT)')
child = subprocess.Popen(['sh', './r', 'look.R'], stdout=subprocess.PIPE, text=True)
while child.poll() is None:
    file.execute("INSERT INTO t VALUES ('of Python')")
    time.sleep(0.005)
said = child.stdout.read()
print(said, end='')
raise SystemExit('dbAppendTable locked in 0 of 50' not in said or 'dbWriteTable locked in 0 of' in said)
PY
python3 look.py
