#!/bin/sh
# rusqlite 0.43.0 (crates.io), with and without its feature "bundled": foreign keys of a new connection.
# Guess: off, as SQLite has them unless PRAGMA foreign_keys switches them on; the feature decides where SQLite comes from.
# Seen: "bundled" compiles SQLite with foreign keys on. The same program refuses an orphan with the feature, and inserts it
# without. Needs cargo, a C compiler, and libsqlite3-dev with pkg-config.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "look"
version = "0.0.0"
edition = "2021"
[dependencies]
rusqlite = "=0.43.0"
[features]
bundled = ["rusqlite/bundled"]
TOML
cat >src/main.rs <<'RUST'
fn main() -> rusqlite::Result<()> {
    let database = rusqlite::Connection::open_in_memory()?;
    database.execute_batch("CREATE TABLE a (id INTEGER PRIMARY KEY); CREATE TABLE b (a INTEGER REFERENCES a (id))")?;
    println!("SQLite {}, orphan: {:?}", rusqlite::version(), database.execute("INSERT INTO b VALUES (1)", []).map_err(|e| e.to_string()));
    Ok(())
}
RUST
for feature in bundled ''; do
  cargo run --quiet --features "$feature" 2>log >said || { cat log; exit 1; }
  printf '%s: %s\n' "${feature:-system}" "$(cat said)" | tee -a seen
done
grep -q '^bundled: .*FOREIGN KEY constraint failed' seen
grep -q '^system: .*Ok(1)$' seen
