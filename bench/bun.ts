import { createRequire } from 'node:module';

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'x64', arm64: 'aarch64' };

/**
 * Bun's executable out of its platform's package: no script has to run at installation. Undefined where there
 * is none.
 */
export function bunProgram(): string | undefined {
  const name = `@oven/bun-${process.platform}-${ARCHITECTURES[process.arch]}`;
  try {
    return createRequire(import.meta.url).resolve(`${name}/bin/bun`);
  } catch {
    return undefined;
  }
}
