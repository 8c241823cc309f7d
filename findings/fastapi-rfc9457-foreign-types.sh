#!/bin/sh
# fastapi-rfc9457 0.2.4 (PyPI): its client, parse_problem, reads Problem Details of a server that it does not know.
# Guess: a `type` that no class of this program has gives a ProblemDetail with the members as they were sent.
# Seen: the last part of the path decides, on whatever host: https://other.example/not-found with 410 becomes the own
# NotFound, with 404 and another title, and an unknown member is gone. A class whose members are missing ends in pydantic's
# ValidationError. In a fragment (RFC 9110's sections) nothing is looked for.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check fastapi-rfc9457==0.2.4
cat >look.py <<'PY'
from importlib.metadata import version
from fastapi_rfc9457 import parse_problem

print('fastapi-rfc9457', version('fastapi-rfc9457'), 'pydantic', version('pydantic'))
for type_ in ['https://other.example/gone', 'https://other.example/not-found', 'https://other.example/validation', 'https://other.example/#not-found']:
    try:
        read = parse_problem({'type': type_, 'title': 'No such shop', 'status': 410, 'shop': 7})
        print(f'{type_}: {type(read).__name__} {read.status} {read.title}, shop {getattr(read, "shop", None)}')
    except ValueError as error:
        print(f'{type_}: {type(error).__name__}')
PY
env/bin/python look.py | tee seen
grep -qx 'https://other.example/gone: ProblemDetail 410 No such shop, shop 7' seen
grep -qx 'https://other.example/not-found: NotFound 404 Not Found, shop None' seen
grep -qx 'https://other.example/validation: ValidationError' seen
grep -qx 'https://other.example/#not-found: ProblemDetail 410 No such shop, shop 7' seen
