import { EXIT_CODES } from '../lib/operator-error.ts';

/** Prints the output of a command. Where standard output does not take it, the exit code is 74, whatever was done. */
export function print(text: string): void {
  process.stdout.once('error', ({ message }) => {
    process.stderr.write(`Cannot print: ${message}\n`);
    process.once('exit', () => {
      process.exitCode = EXIT_CODES['not-written'];
    });
  });
  process.stdout.write(text);
}
