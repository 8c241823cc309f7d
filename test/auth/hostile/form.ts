import { draft, encode, forge } from '../forge.ts';
import { claims, type Row, text } from './row.ts';

/** The same bytes by a lenient decoder: bits behind the last byte are set. */
function strayBits(segment: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = alphabet[alphabet.indexOf(segment.at(-1) ?? '') | 1] ?? '';
  return `${segment.slice(0, -1)}${last}`;
}

export function brokenForms(): readonly Row[] {
  const withName = (name: string) => {
    const made = draft();
    return { ...made, claims: { ...made.claims, name } };
  };
  const ragged = withName('x'.repeat(encode(withName('').claims).length % 4 === 0 ? 1 : 0));
  const urlSafe = withName('\u00fb\u00ff~~~???>>>');
  return [
    ['A5', 'padding after the signature', text((token) => `${token}==`)],
    ['A5', 'padding after the claims', text((_, [h, p, s]) => `${h}.${p}=.${s}`)],
    ['A5', 'padding after the header', text((_, [h, p, s]) => `${h}==.${p}.${s}`)],
    ['A5', 'stray bits in the signature', text((_, [h, p, s]) => `${h}.${p}.${strayBits(s)}`)],
    ['A5', 'stray bits in the claims', text((_, [h, p, s]) => `${h}.${strayBits(p)}.${s}`), 'p256', ragged],
    ['A5', 'a letter that makes no byte', text((token) => `${token}AAA`)],
    [
      'A5',
      'the alphabet of plain base64',
      (made) => forge(made).replaceAll('-', '+').replaceAll('_', '/'),
      'p256',
      urlSafe,
    ],
    ['A5', 'a blank inside', text((_, [h, p, s]) => `${h}.${p.slice(0, 9)} ${p.slice(9)}.${s}`)],
    ['A5', 'a tab inside', text((_, [h, p, s]) => `${h}.${p}.\t${s}`)],
    ['A5', 'a letter beyond ASCII', text((token) => `${token}\u00e9`)],
    ['A5', 'quotation marks around it', text((token) => `"${token}"`)],
    ['A5', 'two tokens with a comma', text((token) => `${token},${token}`)],
    ['A5', 'an escaped dot', text((_, [h, p, s]) => `${h}%2E${p}.${s}`)],
    ['A5', 'a dot too many', text((token) => `${token}.`)],
    ['A5', 'a dot before', text((token) => `.${token}`)],
    ['A5', 'a fourth part', text((token) => `${token}.e30`)],
    ['RFC 7515 §7.1', 'only two parts', text((_, [h, p]) => `${h}.${p}`)],
    ['RFC 7515 §7.1', 'one part, an opaque token', text((_, [, , s]) => s)],
    ['RFC 8725 §2.1', 'no signature', text((_, [h, p]) => `${h}.${p}.`)],
    ['RFC 7515 §7.1', 'no header', text((_, [, p, s]) => `.${p}.${s}`)],
    ['RFC 7515 app. F', 'a detached payload', text((_, [h, , s]) => `${h}..${s}`)],
    [
      'RFC 7515 §7.2',
      'the JSON serialization',
      text((_, [h, payload, signature]) => JSON.stringify({ payload, signature, protected: h })),
    ],
    [
      'RFC 8725 §2.3',
      'an encrypted token',
      text((_, [, p, s]) => `${encode({ alg: 'dir', enc: 'A256GCM' })}..${s}.${p}.${s}`),
    ],
    [
      'RFC 8725 §3.2',
      'alg none without signature',
      (made) => forge(made, { header: { alg: 'none' }, sign: () => Buffer.alloc(0) }),
    ],
    [
      'RFC 8725 §3.2',
      'alg NONE without signature',
      (made) => forge(made, { header: { alg: 'NONE', kid: 'p256' }, sign: () => Buffer.alloc(0) }),
    ],
  ];
}

export function tooLong(): readonly Row[] {
  const made = draft();
  const room = 12 * 1024 - forge({ ...made, claims: { ...made.claims, pad: '' } }).length;
  const full = { ...made, claims: { ...made.claims, pad: 'x'.repeat(Math.floor((room * 3) / 4) - 4) } };
  return [
    ['A5', '12 KiB and more, well signed', claims({ pad: 'x'.repeat(9500) }), 'p256', full],
    ['A5', '12 KiB of signature', text((token) => token + 'A'.repeat(12 * 1024))],
  ];
}
