#!/bin/sh
# Litestar 2.25.0 (PyPI) with its ProblemDetailsPlugin for all HTTP exceptions: HTTPException(detail="no milk", …).
# Guess: as RFC 9457 §3.1 has them, `detail` is the text of this occurrence, and `title` the phrase that all 409 share.
# Seen: the other way round: `title` is "no milk", `detail` is "Conflict", so that no client can decide by the title; there
# is no `type`. An exception of its own class ProblemDetailsException has both as they were given.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check litestar==2.25.0 httpx==0.28.1
cat >look.py <<'PY'
from importlib.metadata import version
from litestar import Litestar, get
from litestar.exceptions import HTTPException
from litestar.plugins.problem_details import ProblemDetailsConfig, ProblemDetailsException, ProblemDetailsPlugin
from litestar.testing import TestClient

@get('/http')
async def http() -> None:
    raise HTTPException(status_code=409, detail='no milk')

@get('/own')
async def own() -> None:
    raise ProblemDetailsException(status_code=409, title='Conflict', detail='no milk')

print('Litestar', version('litestar'))
plugin = ProblemDetailsPlugin(ProblemDetailsConfig(enable_for_all_http_exceptions=True))
with TestClient(Litestar([http, own], plugins=[plugin])) as client:
    for path in ['/http', '/own']:
        answer = client.get(path)
        print(path, answer.headers['content-type'], answer.text)
PY
env/bin/python look.py | tee seen
grep -q '^/http application/problem+json .*"title":"no milk","detail":"Conflict"' seen && ! grep -q '"type"' seen
grep -q '^/own .*"title":"Conflict","detail":"no milk"' seen
