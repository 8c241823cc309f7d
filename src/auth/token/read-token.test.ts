import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readToken } from './read-token.ts';

function encode(text: string): string {
  return Buffer.from(text, 'latin1').toString('base64url');
}

function compact(header: string, claims = '{"sub":"ada"}', signature = 'c2lnbmF0dXJl'): string {
  return `${encode(header)}.${encode(claims)}.${signature}`;
}

const GOOD = compact('{"alg":"HS256"}');

const PASSING: readonly (readonly [string, string])[] = [
  ['a header with "alg" alone', GOOD],
  [
    'a header with everything that is allowed',
    compact('{"alg":"ES256","kid":"a","typ":"JWT","x5t":"b","cty":"c"}'),
  ],
  ['typ at+jwt', compact('{"alg":"HS256","typ":"at+jwt"}')],
  ['typ in other letters with prefix', compact('{"alg":"HS256","typ":"application/AT+JWT"}')],
  ['an empty kid', compact('{"alg":"HS256","kid":""}')],
  ['12 KiB', GOOD + 'A'.repeat(12 * 1024 - GOOD.length)],
];

for (const [what, token] of PASSING) {
  test(`${what} is read`, () => assert.equal(readToken(token).outcome, 'read'));
}

const REFUSED: readonly (readonly [string, string, string])[] = [
  ['token-form', 'nothing', ''],
  ['token-form', 'two parts', 'e30.e30'],
  ['token-form', 'four parts', `${GOOD}.e30`],
  ['token-form', 'five parts, an encrypted token', `${GOOD}.e30.e30`],
  ['token-form', 'an empty signature', compact('{"alg":"HS256"}', '{}', '')],
  ['token-form', 'an empty payload', `${encode('{"alg":"HS256"}')}..c2ln`],
  ['token-form', 'padding', compact('{"alg":"HS256"}', '{}', 'YQ==')],
  ['token-form', 'stray bits at the end of the signature', compact('{"alg":"HS256"}', '{}', 'YR')],
  ['token-form', 'a length that base64url does not have', compact('{"alg":"HS256"}', '{}', 'c2lnb')],
  ['token-form', 'plain base64', compact('{"alg":"HS256"}', '{}', 'a+/b')],
  ['token-form', 'white space', `${GOOD} `],
  ['token-form', 'a line break inside', `${GOOD.slice(0, 5)}\n${GOOD.slice(5)}`],
  ['token-form', 'letters beyond ASCII', `${GOOD}é`],
  ['token-too-long', '12 KiB and a byte', GOOD + 'A'.repeat(12 * 1024 - GOOD.length + 1)],
  ['header-form', 'a header that is no JSON', compact('alg')],
  ['header-form', 'a header that is a list', compact('[]')],
  ['header-form', 'a header that is null', compact('null')],
  ['header-form', 'a header that is not UTF-8', compact('{"alg":"HS256","kid":"\xff"}')],
  ['header-form', 'two algorithms', compact('{"alg":"HS256","alg":"none"}')],
  ['header-form', 'a kid that is a number', compact('{"alg":"HS256","kid":7}')],
  ['header-parameter', 'crit', compact('{"alg":"HS256","crit":["exp"],"exp":1}')],
  ['header-parameter', 'b64', compact('{"alg":"HS256","b64":true}')],
  ['header-parameter', 'zip', compact('{"alg":"HS256","zip":"DEF"}')],
  ['header-parameter', 'jwk', compact('{"alg":"HS256","jwk":{}}')],
  ['header-parameter', 'jku', compact('{"alg":"HS256","jku":"https://a.example"}')],
  ['header-parameter', 'x5u', compact('{"alg":"HS256","x5u":"https://a.example"}')],
  ['header-parameter', 'x5c', compact('{"alg":"HS256","x5c":null}')],
  ['header-type', 'typ of an identity token for logout', compact('{"alg":"HS256","typ":"logout+jwt"}')],
  ['header-type', 'typ of a proof', compact('{"alg":"HS256","typ":"dpop+jwt"}')],
  ['header-type', 'typ null', compact('{"alg":"HS256","typ":null}')],
  ['header-type', 'an empty typ', compact('{"alg":"HS256","typ":""}')],
  ['algorithm', 'none', compact('{"alg":"none"}')],
  ['algorithm', 'None', compact('{"alg":"None"}')],
  ['algorithm', 'no algorithm', compact('{}')],
  ['algorithm', 'an algorithm in a list', compact('{"alg":["HS256"]}')],
  ['algorithm', 'lower case', compact('{"alg":"hs256"}')],
  ['algorithm', 'an algorithm that only the prototype has', compact('{"alg":"constructor"}')],
  ['algorithm', 'an algorithm inherited', compact('{"__proto__":{"alg":"HS256"}}')],
  ['algorithm', 'encryption', compact('{"alg":"RSA-OAEP","enc":"A256GCM"}')],
  ['claims-form', 'claims that are no JSON', compact('{"alg":"HS256"}', 'sub')],
  ['claims-form', 'claims that are a list', compact('{"alg":"HS256"}', '[]')],
  ['claims-form', 'claims that are a string', compact('{"alg":"HS256"}', '"a"')],
  ['claims-form', 'two roles', compact('{"alg":"HS256"}', '{"role":"reader","role":"editor"}')],
  ['claims-form', 'two roles, one in escapes', compact('{"alg":"HS256"}', '{"role":"a","\\u0072ole":"b"}')],
  ['claims-form', 'two nested members of one name', compact('{"alg":"HS256"}', '{"a":{"b":1,"b":2}}')],
  ['claims-form', 'claims that are not UTF-8', compact('{"alg":"HS256"}', '{"name":"\xc3"}')],
  ['claims-form', 'a byte order mark', compact('{"alg":"HS256"}', '\xef\xbb\xbf{}')],
];

for (const [code, what, token] of REFUSED) {
  test(`${what} is refused with ${code}`, () => {
    const result = readToken(token);
    assert.equal(result.outcome === 'refused' && result.refusal.code, code);
  });
}
