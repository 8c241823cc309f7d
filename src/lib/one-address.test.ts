import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOneAddress } from './one-address.ts';

/** Several addresses, and templates that nobody has filled in. */
const OTHERS = [
  'https://a.example,https://b.example',
  'https://a.example;https://b.example',
  'https://a.example https://b.example',
  'https://a.example, https://b.example',
  'https://a|https://b',
  '["https://a","https://b"]',
  'https://a%2Chttps://b',
  'https://a%0Ahttps://b',
  'https://a%0d%0ahttps://b',
  'https://a%09https://b',
  'https://%(host)s/',
  'https://a.example,b.example',
  'urn:a,urn:b',
  'a.example,https://b',
  'https://a/{tenantid}/v2.0',
  'https://a/%7Btenantid%7D/',
  'https://a/<realm>',
  'https://a/realms/%3Crealm%3E',
  'https://a/$TENANT',
  'https://$(HOST)/',
  'https://a/$tenant',
  'https://a/%TENANT%/',
  'https://login.example.org/…',
  'https://a/?t={t}',
  'accounts.google.com,https://accounts.google.com',
  'https://a/\nhttps://b',
  '{issuer}',
  '<issuer>',
  '$ISSUER',
  'http://{collector}:4318',
];

for (const text of OTHERS) {
  test(`${JSON.stringify(text)} is not one address [D18]`, () => {
    assert.equal(isOneAddress(text), false);
  });
}

/** Issuers that people have, and addresses with characters that mean something elsewhere. */
const ONE = [
  'CN=STS,O=Example,C=DE',
  'CN=STS, O=Example',
  'urn:example:sts',
  'accounts.google.com',
  'https://accounts.google.com',
  'http://sts.contoso.com/adfs/services/trust',
  'https://a.example/?realm=/x',
  'https://a.example/realms/a,b',
  'https://a.example/realms/a;b',
  'https://a.example/realms/my%20realm',
  'https://[::1]:8443/x',
  'https://a.example/~ada',
  'https://a.example/realms/a%2Cb',
  'https://a.example/?$format=json',
  'https://u:p$A{<@a.example/',
  'https://a.example/100%25/',
  'https://login.example.org/',
  'a b',
  'https://a.example/?next=https://b.example',
  'https://a.example/x?y=%C3%A9%C3%A9',
  'did:web:a.example',
  'https://kubernetes.default.svc.cluster.local',
  'acme.com',
  'sts,urn',
  'https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_AbC',
  'https://a/$',
  'DC=a+DC=b',
  'http://localhost:8080/todo',
  'https://abcdefghijkl.supabase.co/auth/v1',
  'https://a.example/(x)',
  'arn:aws:iam::1:oidc-provider/x',
  'spiffe://example.org',
  'https://a.example/a=b,c=d',
  'tenant$',
  'ht\ntp://a.example',
  'h\tttps://a.example',
];

for (const text of ONE) {
  test(`${JSON.stringify(text)} is one address or name [D18]`, () => {
    assert.equal(isOneAddress(text), true);
  });
}
