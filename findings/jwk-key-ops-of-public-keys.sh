#!/bin/sh
# jwcrypto 1.6.1 and joserfc 1.8.0 (PyPI): the public half of a signing key, as it is published in a JWKS.
# Guess: the public half of a key with "key_ops": ["sign"] is exported with ["verify"], its half of the pair of operations
# (RFC 7517 §4.3), or without key_ops.
# Seen: it is exported with ["sign"], which no public key can do. joserfc itself then refuses to verify with it.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check jwcrypto==1.6.1 joserfc==1.8.0
cat >look.py <<'PY'
import json
from importlib.metadata import version
from joserfc import jws
from joserfc.jwk import ECKey
from jwcrypto.jwk import JWK

for name in ['jwcrypto', 'joserfc']:
    print(name, version(name))
pair = JWK.generate(kty='EC', crv='P-256', key_ops=['sign'])
print('jwcrypto:', json.loads(pair.export_public())['key_ops'])
key = ECKey.generate_key('P-256', {'key_ops': ['sign']})
public = key.as_dict(private=False)
print('joserfc:', public['key_ops'])
signed = jws.serialize_compact({'alg': 'ES256'}, b'a', key)
try:
    jws.deserialize_compact(signed, ECKey.import_key(public))
    print('joserfc verifies with it')
except Exception as error:
    print('joserfc refuses it:', type(error).__name__)
PY
env/bin/python look.py | tee seen
grep -qx "jwcrypto: \['sign'\]" seen
grep -qx "joserfc: \['sign'\]" seen
grep -q '^joserfc refuses it: ' seen
