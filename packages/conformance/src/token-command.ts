import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';

/** A command that could not make a token; its message has the reason. */
export class TokenCommandFailed extends Error {}

/**
 * Makes tokens with the tool of the implementation (contract Authentication 9): the command is run by `/bin/sh`
 * with `--name NAME` and perhaps `--role ROLE` behind it, and prints a token.
 */
export function tokensBy(command: string): (name: string, role?: string) => Promise<string> {
  return async (name, role) => {
    const words = ['--name', name, ...(role === undefined ? [] : ['--role', role])];
    const child = spawn('/bin/sh', ['-c', `${command} "$@"`, 'sh', ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [printed, complaint, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    const token = printed.trim();
    if (code === 0 && token !== '' && !/\s/.test(token)) return token;
    const reason = code === 0 ? 'it printed no single word' : `exit code ${code}: ${complaint.trim()}`;
    throw new TokenCommandFailed(`--token-command ${words.join(' ')}: ${reason}`);
  };
}
