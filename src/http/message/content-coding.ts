/** A coding with its weight, RFC 9110 §12.5.3. */
const CODING = /^([!#$%&'*+.^_`|~\w-]+)(?:[ \t]*;[ \t]*q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?))?$/i;

/**
 * Whether `Accept-Encoding` admits gzip (RFC 9110 §12.5.3): named, or covered by `*`, with a weight above 0.
 * What cannot be parsed is passed over; a missing header asks for nothing.
 */
export function admitsGzip(acceptEncoding: string | string[] | undefined): boolean {
  if (acceptEncoding === undefined) return false;
  const weights = new Map<string, number>();
  for (const member of String(acceptEncoding).split(',')) {
    const [, coding, weight = '1'] = CODING.exec(member.trim()) ?? [];
    if (coding !== undefined) weights.set(coding.toLowerCase(), Number(weight));
  }
  return (weights.get('gzip') ?? weights.get('x-gzip') ?? weights.get('*') ?? 0) > 0;
}
