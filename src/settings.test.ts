import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings } from './settings.ts';

const PORT = { from: 0, to: 65_535, otherwise: 5080 };

test('a flag beats its variable, and is what a fault names', () => {
  const settings = readSettings({ TODO_PORT: '1', TODO_DATA_DIR: 'a' }, { port: 'http', 'data-dir': 'b' });
  assert.equal(settings.text('TODO_DATA_DIR'), 'b');
  assert.equal(settings.nameOf('TODO_DATA_DIR'), '--data-dir');
  assert.equal(settings.whole('TODO_PORT', PORT), 5080);
  assert.deepEqual(settings.faults, ['--port must be a whole number from 0 to 65535, received "http"']);
});

test('an empty variable counts as not set, an empty flag is a fault', () => {
  const settings = readSettings({ TODO_HOST: '', TODO_PORT: '' }, { host: '' });
  assert.equal(settings.whole('TODO_PORT', PORT), 5080);
  assert.deepEqual(settings.faults, ['--host must have a value, received ""']);
});

for (const [text, number] of [
  ['0', 0],
  ['00080', 80],
  ['65535', 65_535],
] as const) {
  test(`${JSON.stringify(text)} is the number ${number}`, () => {
    const settings = readSettings({ TODO_PORT: text }, {});
    assert.equal(settings.whole('TODO_PORT', PORT), number);
    assert.deepEqual(settings.faults, []);
  });
}

for (const text of [
  '65536',
  '-1',
  '1.0',
  '1e3',
  '0x50',
  ' 80',
  '80 ',
  '١٢',
  '9'.repeat(10),
  'NaN',
  'Infinity',
]) {
  test(`${JSON.stringify(text)} is no port`, () => {
    const settings = readSettings({ TODO_PORT: text }, {});
    settings.whole('TODO_PORT', PORT);
    assert.equal(settings.faults.length, 1);
  });
}

for (const host of ['127.0.0.1', '::1', 'fe80::1%eth0', 'localhost', 'my_host', 'db-1.example.org.']) {
  test(`${JSON.stringify(host)} is a host`, () => {
    const settings = readSettings({ TODO_HOST: host }, {});
    assert.equal(settings.host('TODO_HOST', '127.0.0.1'), host);
    assert.deepEqual(settings.faults, []);
  });
}

for (const [host, quoted] of [
  ['a\nb', 'a\\nb'],
  [' ', ' '],
  ['[::1]', '[::1]'],
  ['\u001b[31m', '\\u001b[31m'],
  ['h'.repeat(254), 'h'.repeat(254)],
  ['http://127.0.0.1/', 'http://127.0.0.1/'],
  ['postgres://todo:s3cr3t@db/todos', 'postgres://…@db/todos'],
] as const) {
  test(`${JSON.stringify(host)} is no host`, () => {
    const settings = readSettings({ TODO_HOST: host }, {});
    settings.host('TODO_HOST', '127.0.0.1');
    assert.deepEqual(settings.faults, [
      'TODO_HOST must be the name or address of a host, like "localhost", "0.0.0.0" or "::1", ' +
        `received "${quoted}"`,
    ]);
  });
}

test('every fault is noted, in the order in which the settings are read', () => {
  const settings = readSettings({ TODO_PROFILE: 'todo', TODO_SHUTDOWN_SECONDS: 'soon' }, {});
  assert.equal(settings.oneOf('TODO_PROFILE', ['shared-list', 'error-demo'], 'shared-list'), 'shared-list');
  settings.whole('TODO_SHUTDOWN_SECONDS', { from: 0, to: 3_600, otherwise: 10, unit: 'seconds' });
  settings.fault('TODO_HOST must be another');
  assert.deepEqual(settings.faults, [
    'TODO_PROFILE must be one of "shared-list", "error-demo", received "todo"',
    'TODO_SHUTDOWN_SECONDS must be a whole number of seconds from 0 to 3600, received "soon"',
    'TODO_HOST must be another',
  ]);
});
