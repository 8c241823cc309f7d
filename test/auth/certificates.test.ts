import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { test } from 'node:test';
import { setDefaultCACertificates } from 'node:tls';
import { openRemoteKeys } from '../../src/auth/keys/remote.ts';
import { describeCertificate, messageOf } from '../../src/lib/errors.ts';
import { listen } from '../support/folder.ts';
import CERTIFICATES from './tls/faults.json' with { type: 'json' };
import { keptLog } from './trust.ts';

setDefaultCACertificates([CERTIFICATES.root]);

const file = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url));

for (const [code, cert] of Object.entries(CERTIFICATES.faults)) {
  test(`an issuer with a certificate of the fault ${code} is said to be not trusted, and by what a CA is named [D27]`, async () => {
    const key = file(code === 'UNSPECIFIED' ? 'test-only-weak.key' : 'test-only-faults.key');
    const server = createServer({ cert, key, ciphers: 'DEFAULT@SECLEVEL=0' });
    const url = new URL(`https://localhost:${await listen(server)}/jwks`);
    const { logEvent, lines } = keptLog();
    const keys = openRemoteKeys({ kind: 'jwks-url', url }, { logEvent, cooldownMs: 1e9, refreshMs: 1e9 });
    await keys.refresh();
    await keys[Symbol.asyncDispose]();
    server.close();
    await once(server, 'close');
    const ofAuthority = /SELF_SIGNED|^UNABLE_TO_/.test(code);
    const advice = ofAuthority
      ? ': name its CA in NODE_EXTRA_CA_CERTS'
      : '; a private CA is named in NODE_EXTRA_CA_CERTS';
    assert.equal(lines[0]?.reason, `${url}: the certificate is not trusted: ${code}${advice}`);
  });
}

/** Of https://nodejs.org/api/tls.html#x509-certificate-error-codes, those that no chain of the file has. */
const OTHERS = [
  ...['UNABLE_TO_GET_ISSUER_CERT', 'UNABLE_TO_GET_CRL', 'UNABLE_TO_DECRYPT_CERT_SIGNATURE', 'INVALID_CA'],
  ...['UNABLE_TO_DECRYPT_CRL_SIGNATURE', 'UNABLE_TO_DECODE_ISSUER_PUBLIC_KEY', 'CERT_SIGNATURE_FAILURE'],
  ...['CRL_SIGNATURE_FAILURE', 'CRL_NOT_YET_VALID', 'CRL_HAS_EXPIRED', 'ERROR_IN_CERT_NOT_BEFORE_FIELD'],
  ...['ERROR_IN_CERT_NOT_AFTER_FIELD', 'ERROR_IN_CRL_LAST_UPDATE_FIELD', 'ERROR_IN_CRL_NEXT_UPDATE_FIELD'],
  ...['CERT_CHAIN_TOO_LONG', 'CERT_REVOKED', 'CERT_UNTRUSTED', 'CERT_REJECTED', 'HOSTNAME_MISMATCH'],
  'ERR_TLS_CERT_ALTNAME_FORMAT',
];

const failed = (code: string) => Object.assign(new Error('it failed'), { code });

test('every code of a certificate is one, in whatever is said of it, and no other code is', () => {
  for (const code of OTHERS)
    assert.match(
      messageOf(failed(code), '"sslrootcert"'),
      /^the certificate is not trusted: it failed.* in "sslr/,
    );
  for (const code of [
    'ECONNRESET',
    'OUT_OF_MEM',
    'ERR_SSL_TLSV1_ALERT_UNKNOWN_CA',
    'ERR_INVALID_URL',
    '28P01',
  ])
    assert.equal(describeCertificate(failed(code), ''), undefined, code);
});
