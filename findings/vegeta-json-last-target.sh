#!/bin/sh
# vegeta 12.13.0 (Go): two targets in a file whose last line has no newline, in both formats.
# Guess: both targets are attacked in turn, whatever ends the file.
# Seen: of JSON the last target is never attacked, without a word; a file of one is "no targets to attack". Of HTTP both are.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
GOBIN=$work GOPATH=$work/go go install github.com/tsenart/vegeta/v12@v12.13.0
url=http://127.0.0.1:9
printf 'GET %s/1\n\nGET %s/2' $url $url >http
printf '{"method":"GET","url":"%s/1"}\n{"method":"GET","url":"%s/2"}' $url $url >json
printf '{"method":"GET","url":"%s/1"}' $url >json-of-one
printf '{"method":"GET","url":"%s/1"}\n' $url >json-of-one-line
attacked() {
  ./vegeta attack -format="${1%%-*}" -rate=4 -duration=1s -targets="$1" >results 2>said || sed "s/.* no/$1: no/" said
  test ! -s results || ./vegeta encode -to=csv results | cut -d, -f11 | sort | uniq -c | sed "s|^ *|$1: |; s|$url||"
}
go version -m vegeta | grep '	mod' | cut -f3,4
for file in http json json-of-one json-of-one-line; do attacked $file; done | tee seen
test "$(grep -c '^http: 2 /' seen)" = 2
grep -qx 'json: 4 /1' seen
grep -qx 'json-of-one: no targets to attack' seen
grep -qx 'json-of-one-line: 4 /1' seen
