#!/bin/sh
# Specmatic 2.55.1 (the jar in its npm package; needs Java 17): a pattern of OpenAPI that begins with a slash.
# Guess: `^/todos/[0-9]+$` is a regular expression of ECMA-262 without flags, where a slash is a character like any other.
# Seen: "OpenAPI follows ECMA-262 regular expressions, which do not support / / delimiters": `^/` at the beginning is taken
# for a delimiter, and the document is refused. `^\/todos\/[0-9]+$`, the same expression, passes.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --ignore-scripts specmatic@2.55.1
document() {
  cat <<JSON
{"openapi":"3.0.3","info":{"title":"a","version":"1"},"paths":{"/a":{"post":{"responses":{"201":{"description":"made",
"headers":{"Location":{"schema":{"type":"string","pattern":"$1"}}}}}}}}}
JSON
}
document '^/todos/[0-9]+$' >plain.json
document '^\\/todos\\/[0-9]+$' >escaped.json
java -version 2>&1 | head -n 1
validate() { java -jar node_modules/specmatic/specmatic.jar validate --spec-file "$1" 2>&1 | grep -aE 'Version|Invalid regex|OVERALL'; }
plain=$(validate plain.json)
escaped=$(validate escaped.json)
printf '^/todos/: %s\n^\\/todos\\/: %s\n' "$plain" "$escaped"
echo "$plain" | grep -q 'OVERALL RESULT: FAILED' && echo "$escaped" | grep -q 'OVERALL RESULT: PASSED'
