#!/bin/sh
# Fiber 3.1.0 (Go), its middleware idempotency, with the header Idempotency-Key: a second create under a key of the first.
# Guess: another body, or another path, is an error (the draft of the header says 422), an answer of 400 leaves the key free,
# and a key that is taken for none is a 400.
# Seen: each gets the first answer, a 201 of another todo, another resource's, or the 400 for what is right now: only the key is
# compared. A key that has not 36 characters is a 500: so is a UUID in the quotation marks that the draft asks for.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
export GOPATH="$work/path" GOFLAGS=-modcacherw
cat >main.go <<'GO'
package main

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"

	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/idempotency"
)

func main() {
	app := fiber.New()
	app.Use(idempotency.New(idempotency.Config{KeyHeader: "Idempotency-Key"}))
	create := func(c fiber.Ctx) error {
		if len(c.Body()) == 0 {
			return c.Status(400).SendString("no title")
		}
		return c.Status(201).SendString(c.Path() + " " + string(c.Body()))
	}
	app.Post("/todos", create)
	app.Post("/lists", create)
	for _, each := range [][3]string{
		{"/todos", "8e03978e-40d5-43dd-bc93-6894a57f9324", "Buy milk"},
		{"/todos", "8e03978e-40d5-43dd-bc93-6894a57f9324", "Buy bread"},
		{"/lists", "8e03978e-40d5-43dd-bc93-6894a57f9324", "Work"},
		{"/todos", "2b1f0c6a-9d57-4f6e-8a43-5c1d7e90b2aa", ""},
		{"/todos", "2b1f0c6a-9d57-4f6e-8a43-5c1d7e90b2aa", "Buy eggs"},
		{"/todos", `"5d9a3e11-77c2-4c0b-9e58-31f4a6b8d0cc"`, "Buy tea"},
		{"/todos", "order-4711", "Buy tea"},
	} {
		request := httptest.NewRequest("POST", each[0], strings.NewReader(each[2]))
		request.Header.Set("Idempotency-Key", each[1])
		answer, err := app.Test(request, fiber.TestConfig{Timeout: 0})
		if err != nil {
			panic(err)
		}
		body, _ := io.ReadAll(answer.Body)
		fmt.Printf("%s, key %s, %q -> %d %s\n", each[0], each[1], each[2], answer.StatusCode, body)
	}
}
GO
go mod init look 2>log
go get github.com/gofiber/fiber/v3@v3.1.0 github.com/gofiber/fiber/v3/middleware/idempotency@v3.1.0 2>log || cat log
go version
echo 'Fiber 3.1.0'
go run . | tee seen
for other in '/todos.*"Buy bread"' '/lists.*"Work"'; do grep -q "^$other -> 201 /todos Buy milk$" seen; done
grep -q '"Buy eggs" -> 400 no title$' seen
[ "$(grep -c '"Buy tea" -> 500 invalid idempotency key: invalid length' seen)" = 2 ]
