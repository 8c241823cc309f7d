#!/usr/bin/env node
// The other files need a newer Node.js than this one, so they are imported after this check.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 12)) {
  process.stderr.write(
    `Cannot test: todo-conformance needs Node.js 22.12 or later, received ${process.version}\n`,
  );
  process.exitCode = 69;
} else {
  await import('./main.ts');
}
