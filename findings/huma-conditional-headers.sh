#!/bin/sh
# huma 2.37.2 (Go), its package conditional: preconditions against a resource whose tag is "a".
# Guess: If-Match: * passes while there is a resource, and a list passes that has the tag (RFC 9110 §13.1.1); a read with
# such a list in If-None-Match is a 304.
# Seen: * is a 412. Of a list only the first member is read well: the space behind the comma, which RFC 9110 §5.6.1
# allows, becomes part of the tag, so that "b", "a" is a 412 and a 200; "b","a" passes.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
export GOPATH="$work/path" GOFLAGS=-modcacherw
cat >main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/danielgtaylor/huma/v2/conditional"
)

type input struct{ conditional.Params }
type output struct {
	ETag string `header:"ETag"`
}

func handle(_ context.Context, in *input) (*output, error) {
	if in.HasConditionalParams() {
		if err := in.PreconditionFailed("a", time.Time{}); err != nil {
			return nil, err
		}
	}
	return &output{ETag: `"a"`}, nil
}

func main() {
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("todos", "1"))
	huma.Get(api, "/todo", handle)
	huma.Put(api, "/todo", handle)
	for _, each := range [][3]string{
		{"PUT", "If-Match", `"a"`}, {"PUT", "If-Match", `*`}, {"PUT", "If-Match", `"a", "b"`}, {"PUT", "If-Match", `"b", "a"`}, {"PUT", "If-Match", `"b","a"`},
		{"GET", "If-None-Match", `"a"`}, {"GET", "If-None-Match", `"b", "a"`}, {"GET", "If-None-Match", `"b","a"`},
	} {
		request := httptest.NewRequest(each[0], "/todo", nil)
		request.Header.Set(each[1], each[2])
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, request)
		fmt.Printf("%s %s: %s -> %d\n", each[0], each[1], each[2], answer.Code)
	}
}
GO
go mod init look 2>log
go get github.com/danielgtaylor/huma/v2@v2.37.2 2>log || cat log
go version
echo 'huma 2.37.2'
go run . | tee seen
for passes in '"a"' '"a", "b"' '"b","a"'; do grep -qx "PUT If-Match: $passes -> 204" seen; done
for refused in '\*' '"b", "a"'; do grep -qx "PUT If-Match: $refused -> 412" seen; done
for kept in '"a"' '"b","a"'; do grep -qx "GET If-None-Match: $kept -> 304" seen; done
grep -qx 'GET If-None-Match: "b", "a" -> 204' seen
