#!/bin/sh
# @modelcontextprotocol/sdk 1.32.2 (npm) and mcp 2.3.0 (PyPI): what a client takes from the WWW-Authenticate of a 401 or 403.
# Guess: resource_metadata and scope of the Bearer challenge, wherever it stands among several (RFC 9110 §11.6.1: a list, in
# any order, on one line or more), as RFC 9728 §5.1 and RFC 6750 §3 have them.
# Seen: the npm package reads nothing where another challenge, as DPoP, comes first, or another line. Both look for scope= in the
# whole text, so that words of a realm or an error_description are taken for the scope.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv env
env/bin/pip install --quiet --disable-pip-version-check mcp==2.3.0
npm install --silent --no-audit --no-fund @modelcontextprotocol/sdk@1.32.2
cat >challenges.json <<'JSON'
{
  "Bearer alone": ["Bearer resource_metadata=\"https://api.example/meta\", scope=\"todos\""],
  "DPoP, then Bearer": ["DPoP algs=\"ES256\", Bearer resource_metadata=\"https://api.example/meta\", scope=\"todos\""],
  "DPoP on a line before": ["DPoP algs=\"ES256\"", "Bearer resource_metadata=\"https://api.example/meta\", scope=\"todos\""],
  "a description with scope=": ["Bearer error=\"insufficient_scope\", error_description=\"scope=notes is not enough\", scope=\"todos\", resource_metadata=\"https://api.example/meta\""]
}
JSON
cat >look.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { extractWWWAuthenticateParams } from '@modelcontextprotocol/sdk/client/auth.js';
for (const [name, lines] of Object.entries(JSON.parse(readFileSync('challenges.json', 'utf8')))) {
  const headers = new Headers();
  for (const line of lines) headers.append('www-authenticate', line);
  const { resourceMetadataUrl, scope } = extractWWWAuthenticateParams(new Response(null, { status: 401, headers }));
  console.log(`npm, ${name}: resource_metadata ${resourceMetadataUrl?.href ?? 'none'}, scope ${scope ?? 'none'}`);
}
JS
cat >look.py <<'PY'
import json
import httpx2
from mcp.client.auth.utils import extract_resource_metadata_from_www_auth, extract_scope_from_www_auth

for name, lines in json.load(open('challenges.json')).items():
    answer = httpx2.Response(401, headers=[('WWW-Authenticate', line) for line in lines])
    print(f'PyPI, {name}: resource_metadata', extract_resource_metadata_from_www_auth(answer), 'scope', extract_scope_from_www_auth(answer))
PY
echo "Node.js $(node --version), @modelcontextprotocol/sdk 1.32.2; $(python3 --version), mcp 2.3.0"
{ node look.mjs; env/bin/python look.py; } | tee seen
grep -qx 'npm, Bearer alone: resource_metadata https://api.example/meta, scope todos' seen
for lost in 'DPoP, then Bearer' 'DPoP on a line before'; do
  grep -qx "npm, $lost: resource_metadata none, scope none" seen
  grep -qx "PyPI, $lost: resource_metadata https://api.example/meta scope todos" seen
done
[ "$(grep -c '^[a-zA-Z]*, a description.* scope notes' seen)" = 2 ]
