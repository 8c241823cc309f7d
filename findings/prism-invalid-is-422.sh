#!/bin/sh
# Prism 5.14.2 (npm: @stoplight/prism-cli) as a mock of a document where 400 is for invalid bodies, and 422 for a key that was
# used for another body, as the draft for Idempotency-Key has it.
# Guess: a body that breaks its schema gets the 400, whose problem has `errors`.
# Seen: it gets the 422, whose example says that the key was reused, though the request has no key: Prism takes the first
# of 422 and 400 that the operation has. Without the 422 it is the 400.
set -eu
work=$(mktemp -d)
prism=
trap '[ -z "$prism" ] || kill $prism; rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix . @stoplight/prism-cli@5.14.2
document() { # members of the responses to leave out
  node -e '
    const problem = (status, title) => ({ description: title, content: { "application/problem+json": {
      schema: { type: "object", properties: { title: { type: "string" }, status: { type: "integer" } } }, example: { title, status } } } })
    const responses = { 201: { description: "made" }, 400: problem(400, "Invalid Body"), 422: problem(422, "Idempotency Key Reused") }
    if (process.argv[1]) delete responses[process.argv[1]]
    const schema = { type: "object", required: ["title"], properties: { title: { type: "string" } } }
    const post = { operationId: "create", requestBody: { required: true, content: { "application/json": { schema } } }, responses }
    console.log(JSON.stringify({ openapi: "3.1.1", info: { title: "a", version: "1" }, paths: { "/a": { post } } }))' "$1"
}
ask() { # document
  port=$(node -e 'const s = require("net").createServer().listen(0, "127.0.0.1", () => { console.log(s.address().port); s.close() })')
  node node_modules/.bin/prism mock --port "$port" "$1" >log 2>&1 &
  prism=$!
  until grep -q 'is listening' log; do sleep 1; done
  curl --silent --header 'Content-Type: application/json' --data '{}' "http://127.0.0.1:$port/a"
  echo
  kill $prism
  wait $prism || true
  prism=
}
document '' >both.json
document 422 >without.json
echo "Prism $(node node_modules/.bin/prism --version)"
ask both.json | tee seen
ask without.json | tee -a seen
[ "$(cat seen)" = '{"title":"Idempotency Key Reused","status":422}
{"title":"Invalid Body","status":400}' ]
