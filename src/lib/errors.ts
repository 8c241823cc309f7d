/** A file, or a document of an issuer, cannot be used. The message is for people, without any of the content. */
export class NotUsable extends Error {
  override readonly name = 'NotUsable';
  /** There is no such file or document. */
  readonly isMissing: boolean;

  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** For a `catch`. Any other error is thrown again. */
export function asNotUsable(error: unknown): NotUsable {
  if (error instanceof NotUsable) return error;
  throw error;
}

/**
 * What an error says, for people. A name with several addresses fails once for each.
 *
 * @param authorities What names the authority of a certificate that nobody trusts.
 */
export function messageOf(error: unknown, authorities = 'NODE_EXTRA_CA_CERTS'): string {
  if (error instanceof AggregateError)
    return error.errors.map((each) => messageOf(each, authorities)).join(', ');
  if (!(error instanceof Error)) return String(error);
  // What Node.js proposes of a certificate that nobody trusts asks for a flag of a program that may have none.
  const [said = '', proposal] = error.message.split('; if the root CA ');
  return proposal === undefined ? said : `${said}: name its CA in ${authorities}`;
}

/** `EACCES` and the like, or undefined for an error that does not come from the operating system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
