/** Exit codes of commands that failed; from 65 on as sysexits.h has them. */
export const EXIT_CODES = {
  failed: 1,
  'wrong-usage': 2,
  /** The data is damaged, or of another program: no restart mends it (contract D15). */
  'bad-data': 65,
  'no-input': 66,
  unavailable: 69,
  'not-written': 74,
  /** Another process serves the same file (contract D6). */
  'in-use': 75,
  configuration: 78,
} as const;

export type Reason = keyof typeof EXIT_CODES;

/** An action cannot be done, for a reason that an operator can mend. */
export class OperatorError extends Error {
  override readonly name: string = 'OperatorError';
  readonly reason: Reason;

  /** @param message One line for people, behind the action that failed, without anything secret. */
  constructor(reason: Reason, message: string, options?: ErrorOptions) {
    super(message, options);
    this.reason = reason;
  }
}
