#!/bin/sh
# lib/pq 1.12.3 beside pgx 5.12.0 (Go): what each reads from an address with several hosts. Nothing is connected to.
# Guess: both read it as libpq does: the port behind a host is that host's, and a host without one has 5432.
# Seen: pgx does. lib/pq, which takes several hosts since 1.11, reads a:2 as the name of a host, with the port 5432; where
# the last host alone has a port, it is that of all. As parameters (?host=a,b&port=2,3) both read them alike.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
cat >go.mod <<'GO'
module look
go 1.25
GO
cat >main.go <<'GO'
package main

import (
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/lib/pq"
)

func main() {
	for _, hosts := range []string{"a:2,b:3/d?", "a,b:3/d?", "/d?host=a,b&port=2,3&"} {
		address := "postgresql://" + hosts + "sslmode=disable"
		one, err := pgx.ParseConfig(address)
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s pgx: %q %d", hosts, one.Host, one.Port)
		for _, more := range one.Fallbacks {
			fmt.Printf(", %q %d", more.Host, more.Port)
		}
		other, err := pq.NewConfig(address)
		if err != nil {
			panic(err)
		}
		fmt.Printf("; lib/pq: %q %d", other.Host, other.Port)
		for _, more := range other.Multi {
			fmt.Printf(", %q %d", more.Host, more.Port)
		}
		fmt.Println()
	}
}
GO
export GOPATH="$work/go" GOFLAGS=-mod=mod
go get github.com/jackc/pgx/v5@v5.12.0 github.com/lib/pq@v1.12.3 >log 2>&1 || cat log
echo 'pgx 5.12.0, lib/pq 1.12.3'
go run . | tee seen
[ "$(cat seen)" = 'a:2,b:3/d? pgx: "a" 2, "b" 3; lib/pq: "a:2" 5432, "b:3" 5432
a,b:3/d? pgx: "a" 5432, "b" 3; lib/pq: "a" 3, "b" 3
/d?host=a,b&port=2,3& pgx: "a" 2, "b" 3; lib/pq: "a" 2, "b" 3' ]
