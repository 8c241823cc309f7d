const LOOPBACK_IPV4 = /^127\.[0-9]+\.[0-9]+\.[0-9]+$/;

/** An address for keys: `https`, or `http` to this very machine, without user, password, fragment; else undefined. */
export function parseTrustedAddress(text: string): URL | undefined {
  const url = URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '' || url.hash !== '') return undefined;
  const plain = url.protocol === 'http:' && isLoopback(url);
  return url.protocol === 'https:' || plain ? url : undefined;
}

/** 127.0.0.0/8, ::1 and the name that RFC 6761 §6.3 keeps for them. */
export function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || LOOPBACK_IPV4.test(hostname);
}

/** An address for messages, without its query, which may hold a secret. */
export function withoutQuery({ origin, pathname }: URL): string {
  return `${origin}${pathname}`;
}
