/** Standard output did not take everything: EX_IOERR of sysexits.h. */
const NOT_PRINTED = 74;

/** Prints what a command has to say. Where standard output does not take it, the exit code is 74, whatever was done. */
export function print(text: string): void {
  process.stdout.once('error', ({ message }) => {
    process.stderr.write(`Cannot print: ${message}\n`);
    process.once('exit', () => {
      process.exitCode = NOT_PRINTED;
    });
  });
  process.stdout.write(text);
}
