#!/bin/sh
# Yarn 4.18.1 with its default linker (Plug'n'Play): a FileHandle of node:fs/promises in a program of the project.
# Guess: it is that of Node.js, so that `await using file = await open(path)` closes it.
# Seen: the file system is replaced, and its FileHandle has no Symbol.asyncDispose: `await using` ends with a TypeError
# ("Object not disposable" in some versions of Node.js). With the node_modules linker it has one.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm install --silent --no-audit --no-fund --prefix tool @yarnpkg/cli-dist@4.18.1
yarn=$work/tool/node_modules/@yarnpkg/cli-dist/bin/yarn.js
look() {
  mkdir "$1"
  cd "$1"
  echo '{"name":"user","private":true,"dependencies":{"ms":"2.1.3"}}' >package.json
  : >yarn.lock
  export YARN_NODE_LINKER="$1" YARN_ENABLE_TELEMETRY=0 YARN_ENABLE_IMMUTABLE_INSTALLS=0
  node "$yarn" install >log || cat log
  cat >look.cjs <<'JS'
require('node:fs/promises').open(__filename).then(async (file) => {
  console.log(typeof file[Symbol.asyncDispose]);
  await file.close();
});
JS
  node "$yarn" node look.cjs
  cd ..
}
pnp=$(look pnp)
modules=$(look node-modules)
printf 'Node.js %s, Yarn 4.18.1. FileHandle.prototype[Symbol.asyncDispose]: with pnp %s, with node-modules %s\n' \
  "$(node --version)" "$pnp" "$modules"
[ "$pnp" = undefined ] && [ "$modules" = function ]
