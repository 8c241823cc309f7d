import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readSettings, unknownVariables } from './read-settings.ts';

test('a flag beats its variable, and is what a fault names', () => {
  const settings = readSettings({ TODO_PORT: '1', TODO_DATA_DIR: 'a' }, { port: 'http', 'data-dir': 'b' });
  assert.equal(settings.read('TODO_DATA_DIR'), 'b');
  assert.equal(settings.read('TODO_PORT'), 5080);
  assert.deepEqual(settings.faults, ['--port must be a whole number from 0 to 65535, received "http"']);
});

test('an empty variable counts as not set, an empty flag is a fault', () => {
  const settings = readSettings({ TODO_HOST: '', TODO_PORT: '' }, { host: '' });
  assert.equal(settings.read('TODO_PORT'), 5080);
  assert.deepEqual(settings.faults, ['--host must have a value, received ""']);
});

/** What a variable is read as, and the faults that are found. */
function readOf(variable: 'TODO_PORT' | 'TODO_HOST', text: string) {
  const settings = readSettings({ [variable]: text }, {});
  return { value: settings.read(variable), faults: settings.faults };
}

for (const [text, value] of [
  ['0', 0],
  ['00080', 80],
  ['65535', 65_535],
] as const) {
  test(`${JSON.stringify(text)} is the number ${value}`, () => {
    assert.deepEqual(readOf('TODO_PORT', text), { value, faults: [] });
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
    assert.equal(readOf('TODO_PORT', text).faults.length, 1);
  });
}

for (const port of ['65536', 'http', ' 8080', '1e3', '$PORT']) {
  test(`D22 · ${JSON.stringify(port)} is no port, and the fault names PORT`, () => {
    const settings = readSettings({ PORT: port }, {});
    settings.read('TODO_PORT');
    const line = `PORT must be a whole number from 0 to 65535, received ${JSON.stringify(port)}`;
    assert.deepEqual(settings.faults, [line]);
  });
}

for (const address of ['tcp://10.0.0.2:80', 'udp://10.0.0.2:53', 'sctp://10.0.0.2:9', 'tcp://[fd00::2]:80']) {
  for (const [name, env, flags] of [
    ['TODO_PORT', { TODO_PORT: address }, {}],
    ['PORT', { PORT: address }, {}],
    ['--port', {}, { port: address }],
    ['TODO_ADMIN_PORT', { TODO_ADMIN_PORT: address }, {}],
  ] as const) {
    test(`${name} of ${address} is a fault that says where Kubernetes sets it`, () => {
      const settings = readSettings(env, flags);
      settings.read('TODO_PORT');
      settings.read('TODO_ADMIN_PORT');
      const reason = 'which Kubernetes sets for a Service unless the Pod has "enableServiceLinks: false"';
      const line = `${name} must be a whole number from 0 to 65535, received "${address}", ${reason}`;
      assert.deepEqual(settings.faults, [line]);
    });
  }
}

test('PORT stands for no other port', () => {
  const settings = readSettings({ PORT: '8080' }, {});
  assert.equal(settings.read('TODO_ADMIN_PORT'), undefined);
  assert.deepEqual(settings.faults, []);
});

for (const value of ['127.0.0.1', '::1', 'fe80::1%eth0', 'localhost', 'my_host', 'db-1.example.org.']) {
  test(`${JSON.stringify(value)} is a host`, () => {
    assert.deepEqual(readOf('TODO_HOST', value), { value, faults: [] });
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
    const wanted = 'must be the name or address of a host, like "localhost", "0.0.0.0" or "::1"';
    assert.deepEqual(readOf('TODO_HOST', host).faults, [`TODO_HOST ${wanted}, received "${quoted}"`]);
  });
}

test('every fault is noted, in the order in which the settings are read', () => {
  const settings = readSettings({ TODO_PROFILE: 'todo', TODO_SHUTDOWN_SECONDS: 'soon' }, {});
  assert.equal(settings.read('TODO_PROFILE'), 'shared-list');
  settings.read('TODO_SHUTDOWN_SECONDS');
  settings.fault('TODO_HOST must be another');
  assert.deepEqual(settings.faults, [
    'TODO_PROFILE must be one of "shared-list", "error-demo", received "todo"',
    'TODO_SHUTDOWN_SECONDS must be a whole number of seconds from 0 to 3600, received "soon"',
    'TODO_HOST must be another',
  ]);
});

for (const [name, nearest] of [
  ['TODO_PROT', 'TODO_PORT'],
  ['TODO_DATABSE', 'TODO_DATABASE'],
  ['TODO_AUTH_ISSUER_URL', 'TODO_AUTH_ISSUER'],
  ['TODO_AUTH_JWKS_URI', 'TODO_AUTH_JWKS_URL'],
  ['TODO_CORS_ORIGIN', 'TODO_CORS_ORIGINS'],
  ['TODO_SHUTDOWN_SECOND', 'TODO_SHUTDOWN_SECONDS'],
  ['TODO_colour_of_the_page', undefined],
  ['OTEL_EXPORTER_OTLP_ENDPIONT', 'OTEL_EXPORTER_OTLP_ENDPOINT'],
] as const) {
  test(`${name} is none; the nearest is ${nearest ?? 'none'}`, () => {
    assert.deepEqual(unknownVariables({ [name]: 's3cr3t' }), [{ name, nearest }]);
  });
}

test('D17 · known variables, those of others and the links of Kubernetes to a service "todo" are not unknown', () => {
  const names = [
    'TODO_PORT',
    'TODO_AUTH_ISSUER',
    'OTEL_SERVICE_NAME',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_METRICS_EXPORTER',
    'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
    'OTEL_RESOURCE_ATTRIBUTES_POD_NAME',
    'OTEL_COLLECTOR_PORT',
    'OTEL_COLLECTOR_SERVICE_PORT_OTLP_HTTP',
    'PATH',
    'TODOS',
    'TODO_SERVICE_HOST',
    'TODO_SERVICE_PORT',
    'TODO_SERVICE_PORT_HTTP',
    'TODO_PORT_5080_TCP',
    'TODO_PORT_5080_TCP_ADDR',
    'TODO_SERVICE_PORT_5080_TCP_PROTO',
    'TODO_SERVICE_SERVICE_HOST',
    'TODO_DB_PORT',
  ];
  assert.deepEqual(
    unknownVariables(Object.fromEntries(names.map((name) => [name, 'tcp://10.0.0.1:5080']))),
    [],
  );
});

test('a default may be another in development', () => {
  const settings = readSettings({}, {});
  assert.deepEqual(
    [settings.read('TODO_LOG_LEVEL'), settings.read('TODO_LOG_LEVEL', 'development')],
    ['info', 'debug'],
  );
});

test('what was asked for is in force: as it was given, or its default', () => {
  const settings = readSettings({ TODO_PORT: '0080', TODO_HOST: 'a', TODO_AUDIT: 'off' }, { host: 'b' });
  settings.read('TODO_PORT');
  settings.read('TODO_HOST');
  settings.read('TODO_MAX_CONNECTIONS');
  settings.read('TODO_MAX_CONNECTIONS');
  settings.read('TODO_CORS_ORIGINS');
  assert.deepEqual(
    [...settings.inForce],
    [
      ['TODO_PORT', 80],
      ['TODO_HOST', 'b'],
      ['TODO_MAX_CONNECTIONS', 1000],
      ['TODO_CORS_ORIGINS', undefined],
    ],
  );
});
