import { afterEach } from 'node:test';
import { canaries } from './canaries.ts';
import { watchSockets } from './sockets.ts';

// The test during which something was found fails; what is found later fails its file.
watchSockets(canaries);
afterEach(() => {
  const findings = canaries.take();
  if (findings.length > 0) throw new Error(`Leak: ${findings.join('\n')}`);
});
process.once('exit', () => {
  const findings = canaries.take();
  if (findings.length === 0) return;
  process.stderr.write(`Leak: ${findings.join('\n')}\n`);
  process.exitCode = 1;
});
