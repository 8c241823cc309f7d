#!/bin/sh
# flask-problem-details 3.0.1 with Flask 3.1.3 (PyPI): the refusals of Flask and Werkzeug as Problem Details (RFC 9457).
# Guess: the body changes, and the header lines that the status needs stay: Allow of a 405 (RFC 9110 §15.5.6),
# WWW-Authenticate of a 401 (§15.5.2), Retry-After of a 503.
# Seen: all three are gone, in silence. Without the library Flask sends them.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check flask-problem-details==3.0.1 flask==3.1.3 werkzeug==3.1.5 flask-openapi3==4.3.2
cat >look.py <<'PY'
from importlib.metadata import version
from flask import Flask
from flask_problem_details import configure_app
from werkzeug.datastructures import WWWAuthenticate
from werkzeug.exceptions import ServiceUnavailable, Unauthorized

print('flask-problem-details', version('flask-problem-details'), 'Flask', version('flask'), 'Werkzeug', version('werkzeug'))
for name in ['Flask', 'flask-problem-details']:
    app = Flask(name)
    if name != 'Flask':
        configure_app(app)

    @app.get('/token')
    def token():
        raise Unauthorized(www_authenticate=WWWAuthenticate('bearer', {'realm': 'a'}))

    @app.get('/busy')
    def busy():
        raise ServiceUnavailable(retry_after=3)

    for method, path, needs in [('PUT', '/busy', 'Allow'), ('GET', '/token', 'WWW-Authenticate'), ('GET', '/busy', 'Retry-After')]:
        answer = app.test_client().open(path, method=method)
        print(f'{name}: {answer.status_code} {answer.mimetype}, {needs}: {answer.headers.get(needs)}')
PY
env/bin/python look.py | tee seen
[ "$(grep -c '^flask-problem-details: .* application/problem+json, .*: None$' seen)" = 3 ]
[ "$(grep -c '^Flask: .*: None$' seen)" = 0 ]
