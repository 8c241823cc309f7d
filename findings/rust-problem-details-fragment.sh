#!/bin/sh
# problem_details 0.11.0 (Rust): the member `type` of Problem Details (RFC 9457), read and written again.
# Guess: `type` is a URI reference, so that its fragment, which RFC 9110's sections have, comes through.
# Seen: it is kept as a Uri of the crate http, the target of a request, which has no fragment: without an error all
# sections of RFC 9110 become one type. Members of extensions go too, unless the type parameter names them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir src
cat >Cargo.toml <<'TOML'
[package]
name = "look"
version = "0.0.0"
edition = "2021"
[dependencies]
problem_details = { version = "=0.11.0", features = ["json"] }
serde_json = "1"
TOML
cat >src/main.rs <<'RUST'
use problem_details::ProblemDetails;
fn main() {
    let sent = r#"{"type":"https://tools.ietf.org/html/rfc9110#section-15.5.1","title":"Bad Request","status":400,"traceId":"a"}"#;
    let read: ProblemDetails = serde_json::from_str(sent).unwrap();
    println!("{}", serde_json::to_string(&read).unwrap());
}
RUST
cargo --version
cargo run --quiet >seen
cat seen
grep -q '"type":"https://tools.ietf.org/html/rfc9110"' seen && ! grep -q traceId seen
