import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { PROGRAM, withoutProgress } from '../support/start.ts';

/** The text of a page of the documents. */
export const page = (name: string) => readFile(new URL(`../../docs/${name}`, import.meta.url), 'utf8');

/** The lines of shell that a page has in a section, in the first block of it that has such a line. */
export function recipe(text: string, heading: string, line = /^/m): string {
  const section = text.split(/^##+ /m).find((each) => each.startsWith(heading)) ?? '';
  const blocks = Array.from(section.matchAll(/^( *)```sh\n([\s\S]*?)```/gm), ([, indent, lines = '']) =>
    lines.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  );
  return blocks.find((lines) => line.test(lines)) ?? assert.fail(`no recipe in "${heading}"`);
}

/**
 * Runs lines of shell in a folder, without a terminal; the first line that fails ends it. `todo-service`, `sudo` and
 * `programs`, each a line of shell, are at hand.
 */
export async function sh(
  folder: string,
  lines: string,
  { env = {}, programs = {}, input = '' }: Readonly<{ env?: object; programs?: object; input?: string }> = {},
) {
  const bin = join(folder, '.bin');
  await mkdir(bin, { recursive: true });
  const own = { 'todo-service': `exec "${process.execPath}" "${PROGRAM}" "$@"`, sudo: 'exec "$@"' };
  for (const [name, body] of Object.entries({ ...own, ...programs })) {
    await writeFile(join(bin, name), `#!/bin/sh\n${body}\n`);
    await chmod(join(bin, name), 0o755);
  }
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  const child = spawn('sh', ['-eu', '-c', lines], {
    cwd: folder,
    detached: true,
    env: { ...inherited, ...env, PATH: `${bin}:${process.env.PATH}` },
    stdio: 'pipe',
  });
  child.stdin.on('error', () => {}).end(input);
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { code, stdout, stderr: withoutProgress(stderr) };
}
