/** An action cannot be done, for a reason that an operator can mend. */
export class Cannot extends Error {
  override readonly name = 'Cannot';
  /** Of sysexits.h, or 1. */
  readonly exitCode: number;

  /** @param message one line for people, behind what cannot be done, without anything secret. */
  constructor(exitCode: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exitCode = exitCode;
  }
}
