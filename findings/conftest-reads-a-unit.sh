#!/bin/sh
# conftest 0.71.1 (Go): --parser ini reads a unit of systemd.
# Guess: each setting is text as it stands, and a repeated one a list, or refused.
# Seen: of a repeated setting the last is left (the list of permitted system calls is gone), 0077 is the number 77, and a value
# ends before a semicolon, so that a policy sees another unit than systemd.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
GOBIN=$work GOPATH=$work/go go install github.com/open-policy-agent/conftest@v0.71.1
cat >example.service <<'UNIT'
[Service]
ExecStart=/bin/sh -c 'sleep 1; exec sleep 2'
UMask=0077
SystemCallFilter=@system-service
SystemCallFilter=~@privileged
UNIT
go version -m conftest | grep '^	mod'
./conftest parse --parser ini example.service | tee seen
grep -q '"ExecStart": "/bin/sh -c .sleep 1",\?$' seen
grep -q '"UMask": 77,\?$' seen
[ "$(grep -c SystemCallFilter seen)" = 1 ]
grep -q '"SystemCallFilter": "~@privileged",\?$' seen
