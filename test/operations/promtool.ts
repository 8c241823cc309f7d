import { execFileSync, spawnSync } from 'node:child_process';

/** Why expressions of Prometheus cannot be judged here, for the `skip` of a test; false when they can. */
export function noPromtool(): string | false {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' });
    return false;
  } catch {
    return 'there is no promtool on the PATH: install it, on Debian with "apt-get install prometheus"';
  }
}

/** Runs promtool to its end. */
export function promtool(args: readonly string[], input = '') {
  const { status, stdout, stderr } = spawnSync('promtool', args, { input, encoding: 'utf8' });
  return { status, output: stdout + stderr };
}
