#!/bin/sh
# RSQLite 2.2.20 of Debian 12 (2.4.6 of sid does the same) beside Python's sqlite3, on one file with a write-ahead log.
# Guess: what Python has committed with synchronous=FULL is on disk, whatever another program does to the file later.
# Seen: dbConnect() sets synchronous=off. Its checkpoint copies Python's pages into the database without a sync, and Python's
# next commit begins the log anew: until the kernel writes the database by itself, a power cut takes synced commits.
# Needs Debian 12 without R, and strace.
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
cat("RSQLite ", as.character(packageVersion("RSQLite")), ", SQLite ", RSQLite::rsqliteVersion()[["library"]], ", synchronous = ",
  dbGetQuery(file, "PRAGMA synchronous")[[1]], ", frames checkpointed: ", dbGetQuery(file, "PRAGMA wal_checkpoint")$checkpointed, "\n", sep = "")
dbDisconnect(file)
R
cat >look.py <<'PY'
import sqlite3
import subprocess

def log():
    with open('list.db-wal', 'rb') as file:
        return file.read(24)[16:].hex()

file = sqlite3.connect('list.db', isolation_level=None)
file.execute('PRAGMA journal_mode = WAL')
file.execute('PRAGMA synchronous = FULL')
file.execute('CREATE TABLE t (x TEXT)')
for number in range(100):
    file.execute('INSERT INTO t VALUES (?)', (f'{number}' * 50,))
before = log()
subprocess.run(['strace', '-f', '-y', '-o', 'calls', '-e', 'trace=write,pwrite64,fsync,fdatasync', 'sh', './r', 'look.R'], check=True)
with open('calls') as calls:
    lines = [line for line in calls if '/list.db' in line]
writes = sum('/list.db>' in line and 'write' in line for line in lines)
syncs = sum('sync(' in line for line in lines)
file.execute("INSERT INTO t VALUES ('next')")
print(f'its checkpoint: {writes} writes to list.db, {syncs} syncs; the log begins anew at the next commit: {log() != before}')
raise SystemExit(not (writes > 0 and syncs == 0 and log() != before))
PY
python3 look.py
