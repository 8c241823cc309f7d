#!/bin/sh
# oasdiff 1.37.0 (Go): breaking changes of a request body, between two OpenAPI documents of version 3.1.
# Guess: each keyword that a schema gains can refuse what passed before, and is an error, or at least a warning.
# Seen: patternProperties, propertyNames and if/then are errors. additionalProperties: false, unevaluatedProperties:
# false, `not` and a first `anyOf` are neither in "breaking" nor in "changelog", and the exit code is 0: a body that gains one
# and refuses what clients send passes the gate.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
GOBIN=$work GOPATH=$work/go go install github.com/oasdiff/oasdiff@v1.37.0
document() { # keyword to add
  printf '{"openapi":"3.1.1","info":{"title":"a","version":"1"},"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}}%s}}}},"responses":{"204":{"description":"d"}}}}}}' "$1"
}
document '' >old.json
go version -m oasdiff | grep '	mod' | cut -f3,4
for keyword in '"patternProperties":{"^x":{"type":"string"}}' '"propertyNames":{"maxLength":1}' \
  '"if":{"required":["n"]},"then":{"required":["s"]}' '"additionalProperties":false' '"unevaluatedProperties":false' \
  '"not":{"required":["n"]}' '"anyOf":[{"required":["n"]},{"required":["s"]}]'; do
  document ",$keyword" >new.json
  code=0
  ./oasdiff breaking --fail-on WARN old.json new.json >said || code=$?
  ./oasdiff changelog old.json new.json | grep '^\(error\|warning\)' >said || true
  echo "$keyword: breaking ends with $code, changelog $([ -s said ] && echo 'names it' || echo 'is silent')"
done | tee seen
[ "$(grep -c 'ends with 1, changelog names it$' seen)" = 3 ]
[ "$(grep -c 'ends with 0, changelog is silent$' seen)" = 4 ]
