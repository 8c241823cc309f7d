import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { codePoint } from '../../test/support/code-point.ts';
import { isOneAddress } from '../lib/one-address.ts';
import { readSettings, unknownVariables } from './read.ts';
import { flagOf, settingOf, VARIABLES } from './table.ts';

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

/** The value of a variable, and the faults that are found. */
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

for (const text of ['65536', '-1', '1.0', 'Infinity', '0x50', ' 80', '80 ', '١٢', '9'.repeat(10), 'NaN']) {
  test(`${JSON.stringify(text)} is no port`, () => {
    assert.equal(readOf('TODO_PORT', text).faults.length, 1);
  });
}

for (const port of ['65536', 'http', ' 8080', '1e3', '$PORT']) {
  test(`${JSON.stringify(port)} is no port, and the fault names PORT [D22]`, () => {
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

test('a proxy in lower case comes first, and is named in upper case', () => {
  const env = { HTTPS_PROXY: 'http://upper:1' };
  const givenIn = (variables: NodeJS.ProcessEnv) => readSettings(variables, {}).given('HTTPS_PROXY');
  assert.deepEqual(givenIn(env), { name: 'HTTPS_PROXY', text: 'http://upper:1' });
  const lower = { name: 'HTTPS_PROXY', text: 'http://lower:1' };
  assert.deepEqual(givenIn({ ...env, https_proxy: 'http://lower:1' }), lower);
});

test("another program's variable is as it was given, and undefined when it is empty", () => {
  const { other } = readSettings({ PGHOST: 'db', PGUSER: '' }, {});
  assert.deepEqual(['PGHOST', 'PGUSER', 'PGPORT'].map(other), ['db', undefined, undefined]);
});

test('one of several values is in force when it is given', () => {
  assert.equal(readSettings({ TODO_LOG_LEVEL: 'debug' }, {}).read('TODO_LOG_LEVEL'), 'debug');
});

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
  ['a b', 'a b'],
  ['[::1]', '[::1]'],
  ['a\u001b[31m', 'a\\u001b[31m'],
  ['h'.repeat(254), 'h'.repeat(254)],
  ['http://127.0.0.1/', 'http://127.0.0.1/'],
  ['postgres://todo:s3cr3t@db/todos', 'postgres://…@db/todos'],
] as const) {
  test(`${JSON.stringify(host)} is no host`, () => {
    const wanted = 'must be the name or address of a host, like "localhost", "0.0.0.0" or "::1"';
    assert.deepEqual(readOf('TODO_HOST', host).faults, [`TODO_HOST ${wanted}, received "${quoted}"`]);
  });
}

/** Texts and hosts: settings that their modules parse. */
const TEXTS = VARIABLES.filter((variable) => 'text' in settingOf(variable) || 'host' in settingOf(variable));

/** Stray parts that a secret, an env-file or a copied page leaves around a value, by their messages. */
const WHITE_SPACE = fc.constantFrom(
  ...'\t\n\v\f\r \u0085\u00a0\u1680\u2003\u200b\u2028\u202f\u205f\u3000\ufeff',
  '\r\n',
);
const CONTROL = fc.constantFrom(...'\u0000\u0001\u0008\u000e\u001b\u001f\u007f\u0080\u009f');
const SECRET = 's3cr3t';
const INNER = fc
  .tuple(fc.string({ unit: codePoint }), fc.string({ unit: codePoint }))
  .map(([before, behind]) => `a${before}${SECRET}${behind}b`)
  // A placeholder is a fault of its own in an address.
  .filter(isOneAddress);

const STRAY = fc.oneof(
  fc.tuple(WHITE_SPACE, INNER).map(([stray, text]) => [`${stray}${text}`, 'begin with white space']),
  fc.tuple(WHITE_SPACE, INNER).map(([stray, text]) => [`${text}${stray}`, 'end with white space']),
  fc.tuple(CONTROL, INNER).map(([stray, text]) => [`${stray}${text}`, 'begin with a control character']),
  fc.tuple(CONTROL, INNER).map(([stray, text]) => [`${text}${stray}`, 'end with a control character']),
  fc.tuple(WHITE_SPACE, CONTROL).map(([one, other]) => [`${one}${other}`, 'begin with white space']),
  fc
    .tuple(fc.constantFrom('"', "'"), INNER)
    .map(([quote, text]) => [`${quote}${text}${quote}`, 'stand in quotes']),
  fc.constantFrom('""', "''").map((quotes) => [quotes, 'stand in quotes']),
);

for (const variable of TEXTS) {
  test(`${variable} with white space, a control character or quotes around it has one fault, which shows no value [D18]`, () => {
    const flag = flagOf(variable);
    const given = fc.constantFrom(variable, ...(flag === undefined ? [] : [flag]));
    fc.assert(
      fc.property(given, STRAY, (name, [text = '', wanted]) => {
        const isFlag = name !== variable;
        const settings = isFlag ? readSettings({}, { [name]: text }) : readSettings({ [name]: text }, {});
        // Each reader of the setting may add a fault.
        for (let times = 1; times <= 2; times += 1) assert.equal(settings.read(variable), text);
        settings.refuse(variable, 'must be another');
        settings.fault(`${text} must be another`, variable);
        const [fault = '', ...more] = settings.faults;
        assert.ok(fault.startsWith(`${isFlag ? '--' : ''}${name} must not ${wanted}, received "`), fault);
        assert.match(fault, /received "[ -~…]{2,12}"$/);
        assert.deepEqual([more, fault.includes(SECRET)], [[], false]);
      }),
    );
  });
}

/** Settings in which no text with `#` behind white space is meant. */
const WITHOUT_COMMENT = ['ISSUER', 'AUDIENCE', 'AUDIENCE_CLAIM', 'JWKS_URL', 'ROLE_CLAIM', 'NAME_CLAIM'].map(
  (name) => `TODO_AUTH_${name}`,
);

for (const variable of TEXTS.filter((each) => !('host' in settingOf(each)))) {
  const isFault = WITHOUT_COMMENT.includes(variable);
  test(`white space before a "#" ${isFault ? 'is a fault' : 'may be'} in ${variable} [D18]`, () => {
    fc.assert(
      fc.property(INNER, WHITE_SPACE, INNER, (text, stray, comment) => {
        const settings = readSettings({ [variable]: `${text}${stray}#${comment}` }, {});
        assert.equal(settings.read(variable), `${text}${stray}#${comment}`);
        const wanted = 'must not have white space before a "#": a comment has a line of its own';
        assert.deepEqual(settings.faults, isFault ? [`${variable} ${wanted}, received "… #…"`] : []);
      }),
    );
  });
}

test('what is within a text stays: a quote, a "#" behind no white space, a line break', () => {
  for (const text of ['"', "'", '"a\'', 'a"', "a'b", 'a#b', '#a', 'a b', 'a\nb', '“a”'])
    for (const variable of TEXTS.filter((each) => !('host' in settingOf(each)))) {
      const settings = readSettings({ [variable]: text }, {});
      assert.deepEqual([settings.read(variable), settings.faults], [text, []]);
    }
});

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

for (const name of [
  'TODO_PORT',
  'TODO_AUTH_ISSUER',
  'OTEL_SERVICE_NAME',
  'OTEL_EXPORTER_OTLP_HEADERS',
  'OTEL_EXPORTER_OTLP_TRACES_HEADERS',
  'OTEL_METRIC_EXPORT_INTERVAL',
  'OTEL_METRICS_EXPORTER',
  'OTEL_EXPORTER_OTLP_LOGS_ENDPOINT',
  'OTEL_RESOURCE_ATTRIBUTES_POD_NAME',
  'PATH',
  'TODOS',
  'MY_TODO_PROT',
  'TODO_SERVICE_HOST',
  'TODO_SERVICE_PORT',
  'TODO_SERVICE_PORT_HTTP',
  'TODO_PORT_5080_TCP',
  'TODO_PORT_5080_TCP_ADDR',
  'TODO_SERVICE_PORT_5080_TCP_PROTO',
  'TODO_SERVICE_SERVICE_HOST',
]) {
  test(`${name} is known, another program's, or a link of Kubernetes to a service "todo", whatever its value [D17]`, () => {
    assert.deepEqual(unknownVariables({ [name]: 'x' }), []);
  });
}

test('a variable with the address of a service is a link of Kubernetes, whatever its name [D17]', () => {
  const env = { TODO_DB_PORT: 'tcp://10.0.0.1:5080', OTEL_COLLECTOR_PORT: 'udp://10.0.0.1:4317' };
  assert.deepEqual(unknownVariables(env), []);
  assert.equal(unknownVariables({ TODO_DB_PORT: 'x tcp://10.0.0.1:5080' }).length, 1);
});

test('settings with a fault, or with a part missing, are an error with each fault', () => {
  const settings = readSettings({}, {});
  assert.equal(settings.whenSound('sound'), 'sound');
  assert.throws(() => settings.whenSound(undefined), { name: 'ConfigFaults', faults: [] });
  settings.fault('one');
  settings.fault('two');
  const error = { name: 'ConfigFaults', message: 'one\ntwo', faults: ['one', 'two'] };
  assert.throws(() => settings.whenSound('sound'), error);
});

test('a folder is no address, and one of a password is not shown [D18]', () => {
  const settings = readSettings({ TODO_DATA_DIR: 'https://ada:s3cr3t@host/data' }, {});
  settings.read('TODO_DATA_DIR');
  assert.deepEqual(settings.faults, [
    'TODO_DATA_DIR must be a folder, not an address, received "https://…@host/data"',
  ]);
  // A word alone may be a secret, too.
  assert.equal(readSettings({}, {}).quoted('TODO_DATA_DIR', 's3cr3t'), '"…"');
});

test('an address in a file may be meant: a file is no folder', () => {
  const settings = readSettings({ TODO_SOCKET: 'x://y' }, {});
  assert.equal(settings.read('TODO_SOCKET'), 'x://y');
  assert.deepEqual(settings.faults, []);
});

test('a setting without a flag is given by its variable alone', () => {
  const settings = readSettings({}, { 'socket-mode': '666' });
  assert.equal(settings.read('TODO_SOCKET_MODE'), '660');
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
