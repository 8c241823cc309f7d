#!/bin/sh
# go-jose 4.1.9 (Go) and jsonwebtoken 10.4.0 (Rust), beside PyJWT 2.15.1 (PyPI): a JWKS that has a key for encryption, too.
# Guess: a key for X25519 (RFC 8037), "use": "enc", is skipped, as RFC 7517 §5 asks of keys that are not understood.
# Seen: PyJWT skips it. go-jose and jsonwebtoken refuse the whole set, the RSA key that signs the tokens with it; so they do
# with a key for ML-DSA ("kty": "AKP"). An RSA key for encryption does no harm.
set -eu
work=$(mktemp -d)
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check 'pyjwt[crypto]==2.15.1'
env/bin/pip freeze | grep -i pyjwt
cat >look.py <<'PY'
import base64, json, sys
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt import PyJWKSet
from jwt.algorithms import RSAAlgorithm

def public(use):
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).public_key()
    return {**RSAAlgorithm.to_jwk(key, as_dict=True), 'kid': use, 'use': use}

text = lambda length: base64.urlsafe_b64encode(bytes(range(1, 33)) * (length // 32)).decode().rstrip('=')
others = {
    'RSA': public('enc'),
    'X25519': {'kty': 'OKP', 'crv': 'X25519', 'kid': 'b', 'use': 'enc', 'alg': 'ECDH-ES', 'x': text(32)},
    'ML-DSA': {'kty': 'AKP', 'alg': 'ML-DSA-44', 'kid': 'b', 'use': 'sig', 'pub': text(1312)},
}
for name, other in others.items():
    keys = {'keys': [other, public('sig')]}
    json.dump(keys, open(f'{name}.json', 'w'))
    print('PyJWT', name, PyJWKSet.from_dict(keys)['sig'].key_id)
PY
env/bin/python look.py | tee seen
mkdir go rust rust/src
cat >go/main.go <<'GO'
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/go-jose/go-jose/v4"
)

func main() {
	for _, name := range []string{"RSA", "X25519", "ML-DSA"} {
		text, _ := os.ReadFile("../" + name + ".json")
		var keys jose.JSONWebKeySet
		if err := json.Unmarshal(text, &keys); err != nil {
			fmt.Println("go-jose", name, "refused:", err)
		} else {
			fmt.Println("go-jose", name, keys.Key("sig")[0].KeyID)
		}
	}
}
GO
cd go
export GOPATH="$work/path" GOFLAGS=-modcacherw
go mod init look 2>log
go get github.com/go-jose/go-jose/v4@v4.1.9 2>log || cat log
go version
go run . | tee -a ../seen
cd ../rust
cat >Cargo.toml <<'TOML'
[package]
name = "look"
version = "0.0.0"
edition = "2021"
[dependencies]
jsonwebtoken = { version = "=10.4.0", features = ["rust_crypto"] }
serde_json = "1"
TOML
cat >src/main.rs <<'RUST'
use jsonwebtoken::jwk::JwkSet;
fn main() {
    for name in ["RSA", "X25519", "ML-DSA"] {
        let text = std::fs::read_to_string(format!("../{name}.json")).unwrap();
        match serde_json::from_str::<JwkSet>(&text) {
            Ok(keys) => println!("jsonwebtoken {name} {}", keys.find("sig").unwrap().common.key_id.as_ref().unwrap()),
            Err(error) => println!("jsonwebtoken {name} refused: {error}"),
        }
    }
}
RUST
cargo --version
cargo run --quiet | tee -a ../seen
for name in RSA X25519 ML-DSA; do grep -qx "PyJWT $name sig" ../seen; done
for library in go-jose jsonwebtoken; do
  grep -qx "$library RSA sig" ../seen
  for name in X25519 ML-DSA; do grep -q "^$library $name refused" ../seen; done
done
