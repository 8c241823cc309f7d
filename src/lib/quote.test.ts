import assert from 'node:assert/strict';
import { test } from 'node:test';
import { quoteAddress, quoteReceived } from './quote.ts';

for (const [address, quoted] of [
  ['https://login.example.org:8443/realms/todo', '"https://login.example.org:8443/realms/todo"'],
  ['https://[::1]:80/', '"https://[::1]:80/"'],
  ['https://login.example.org ', '"https://login.example.org "'],
  ['postgres://a:5432,b:5433/todos', '"postgres://a:5432,b:5433/todos"'],
  ['https://user:s3cr3t@login.example.org/a', '"https://…@login.example.org/a"'],
  ['postgres://todo:s3:cr3t@db/todos', '"postgres://…@db/todos"'],
  ['https://login.example.org/jwks?key=s3cr3t', '"https://login.example.org/jwks?…"'],
  ['https://login.example.org/#s3cr3t', '"https://login.example.org/#…"'],
  ['postgres://todo:s3@cr3t@db/todos', '"postgres://…"'],
  ['postgres://todo:s3/cr3t@db/todos', '"postgres://…"'],
  ['postgres://todo:12/s3cr3t@db/todos', '"postgres://…"'],
  ['postgres://todo:12?s3cr3t@db/todos', '"postgres://…"'],
  ['postgres://todo:12#s3cr3t@db/todos', '"postgres://…"'],
  ['postgres://todo:s3cr3t', '"postgres://…"'],
  ['postgres:todo:s3cr3t@db/todos', '"postgres:…"'],
  ['https:/todo:s3cr3t@db', '"https:…"'],
  ['host=db user=todo password=s3cr3t', '"…"'],
  ['//todo:s3cr3t@db/todos', '"…"'],
  ['sqlserver://db;password=s3cr3t', '"sqlserver://…"'],
  ['https://key=s3cr3t/', '"https://…"'],
  ['https://a&s3cr3t', '"https://…"'],
  ['s3cr3t', '"…"'],
  ['todo:s3cr3t@db/todos', '"…"'],
  ['urn:todo-service:development', '"urn:todo-service:development"'],
  ['https://h\u200b.example/\u00e9', '"https://h\\u200b.example/\\u00e9"'],
  ['', '"…"'],
] as const) {
  test(`${JSON.stringify(address)} is quoted as ${quoted}`, () =>
    assert.equal(quoteAddress(address), quoted));
}

for (const text of [
  '*',
  'null',
  'app.example',
  'app.example:8080',
  'app.example/todos',
  'https://app.example/',
  'https://*.app.example:*',
  'ftp://app.example',
  '[::1]',
  'urn:todo-service:development',
  'http://[::1]:8080/',
  'a\nb',
  ' ',
  '\u001b[31m',
  'h'.repeat(254),
]) {
  test(`${JSON.stringify(text)} can hold no password, and is shown as it was received`, () =>
    assert.equal(quoteReceived(text), JSON.stringify(text)));
}

for (const [text, quoted] of [
  ['https://user:s3cr3t@app.example', '"https://…@app.example"'],
  ['https://app.example/?key=s3cr3t', '"https://app.example/?…"'],
  ['https://app.example/#s3cr3t', '"https://app.example/#…"'],
  ['https://user:s3cr3t', '"https://…"'],
  ['user:s3cr3t', '"…"'],
  ['password=s3cr3t', '"…"'],
  ['s3@cr3t', '"…"'],
] as const) {
  test(`${JSON.stringify(text)} may hold a password, and is received as ${quoted}`, () =>
    assert.equal(quoteReceived(text), quoted));
}
