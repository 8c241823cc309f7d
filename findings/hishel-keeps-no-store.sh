#!/bin/sh
# hishel 2.0.0, beside 1.4.0 (PyPI), as an adapter of requests, as it comes: reads of what says no-cache and no-store.
# Guess: an HTTP cache validates the one before each use, and keeps nothing of the other (RFC 9111 §5.2.2.4 and §5.2.2.5).
# Seen: 1.4.0 does so. 2.0.0 keeps each 200 of a GET and asks no more, also after its own PUT, unless it is told rfc=True.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat >look.py <<'PY'
import sys, threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from importlib.metadata import version
import requests
from hishel.requests import CacheAdapter

class Todos(BaseHTTPRequestHandler):
    title = 'Buy milk'

    def do_GET(self):
        self.server.asked += 1
        self.send_response(200)
        self.send_header('Cache-Control', self.path[1:])
        self.send_header('Content-Length', str(len(Todos.title)))
        self.end_headers()
        self.wfile.write(Todos.title.encode())

    def do_PUT(self):
        Todos.title = self.rfile.read(int(self.headers['Content-Length'])).decode()
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass

server = HTTPServer(('127.0.0.1', 0), Todos)
server.asked = 0
threading.Thread(target=server.serve_forever, daemon=True).start()
for options in [{}, {'rfc': True}][: 2 if version('hishel').startswith('2') else 1]:
    for directive in ['no-cache', 'no-store']:
        address = f'http://127.0.0.1:{server.server_port}/{directive}'
        session = requests.Session()
        session.mount('http://', CacheAdapter(**options))
        server.asked, Todos.title = 0, 'Buy milk'
        session.get(address)
        session.get(address)
        twice = server.asked
        session.put(address, data='Buy bread')
        print(version('hishel'), options, directive, f'two reads ask {twice} times, after a PUT:', session.get(address).text)
PY
for version in 1.4.0 2.0.0; do
  python3 -m venv "env-$version"
  "env-$version/bin/pip" install --quiet --disable-pip-version-check "hishel[requests]==$version" requests==2.34.2
  mkdir "$version"
  (cd "$version" && "../env-$version/bin/python" ../look.py)
done | tee seen
python3 --version
for directive in no-cache no-store; do
  grep -q "^2.0.0 {} $directive two reads ask 1 times, after a PUT: Buy milk$" seen
  for careful in '1.4.0 {}' "2.0.0 {'rfc': True}"; do
    grep -q "^$careful $directive two reads ask 2 times, after a PUT: Buy bread$" seen
  done
done
