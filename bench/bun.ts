import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'aarch64' };

/**
 * Bun's executable out of its platform's package: no script has to run at installation. Undefined where there
 * is none, or where it does not run: it needs the GNU C library, and AVX2 on x86-64.
 */
export const bunProgram = findBun();

function findBun(): string | undefined {
  const name = `@oven/bun-${process.platform}-${ARCHITECTURES[process.arch]}`;
  try {
    const program = createRequire(import.meta.url).resolve(`${name}/bin/bun`);
    return spawnSync(program, ['--version']).status === 0 ? program : undefined;
  } catch {
    return undefined;
  }
}
