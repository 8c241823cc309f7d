#!/usr/bin/env node
// Without a listener, SIGUSR1 opens a debugger, by which any local user reads the secrets.
process.on('SIGUSR1', () => {});

// Plain JavaScript, so that a Node.js too old for TypeScript reaches the sentence below.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 24 || (major === 24 && minor < 15)) {
  process.stderr.write(
    `Cannot start: todo-service needs Node.js 24.15 or later, received ${process.version}\n`,
  );
  process.exitCode = 69;
} else {
  const { main } = await import('./main.ts');
  await main(process.argv.slice(2));
}
