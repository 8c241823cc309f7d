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

/** The error of a `catch`, as `NotUsable`. Any other error is thrown again. */
export function asNotUsable(error: unknown): NotUsable {
  if (error instanceof NotUsable) return error;
  throw error;
}

/** The result of a function; undefined when it throws, whatever the error is. */
export function orUndefined<T>(run: () => T): T | undefined {
  try {
    return run();
  } catch {
    return undefined;
  }
}

/** Codes of a certificate that is not trusted: https://nodejs.org/api/tls.html#x509-certificate-error-codes, and of names. */
const OF_CERTIFICATE =
  /_SIGNED_CERT|^UNSPECIFIED$|^(?:CERT|CRL|ERROR_IN_C[A-Z]+|ERR_TLS_CERT|HOSTNAME|INVALID|PATH_LENGTH|UNABLE_TO)_/;

/** Those that another authority cures. */
const OF_AUTHORITY = /SIGN|ISSUER_CERT|UNTRUSTED/;

/** The sentence on a certificate that is not trusted; undefined for any other error. `setting` adds an authority. */
export function describeCertificate(error: unknown, said: string, setting = 'NODE_EXTRA_CA_CERTS') {
  const code = errorCode(error) ?? '';
  if (!OF_CERTIFICATE.test(code)) return undefined;
  const advice = OF_AUTHORITY.test(code) ? ': name its CA in' : '; a private CA is named in';
  return `the certificate is not trusted: ${said}${advice} ${setting}`;
}

/** The message of an error, for people: of each address of a host. @param authorities The setting that adds a CA. */
export function messageOf(error: unknown, authorities?: string): string {
  if (error instanceof AggregateError)
    return error.errors.map((each) => messageOf(each, authorities)).join(', ');
  if (!(error instanceof Error)) return String(error);
  // Node.js proposes, for such a certificate, a flag of the `node` program, which this program may not have.
  const [said = ''] = error.message.split('; if the root CA ');
  return describeCertificate(error, said, authorities) ?? said;
}

/** `EACCES` and the like, or undefined for an error that does not come from the operating system. */
export function errorCode(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
