import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { readConfig } from '../../src/server/config.ts';
import { ConfigFaults } from '../../src/settings/read.ts';
import { settingOf, VARIABLES, type Variable } from '../../src/settings/table.ts';
import { runCommand } from '../support/run-command.ts';
import { canaries } from './canaries.ts';

const SECRET = 'c4n4ry-0f-4-v4lue';
canaries.keepSecret(SECRET);

/** Texts in which people have secrets: addresses, well-formed or not, and connection strings. */
const HOLDERS = [
  `https://u:${SECRET}@h/`,
  `https://${SECRET}@h/`,
  `https://${SECRET}:p@h:1/a`,
  `https://h/?key=${SECRET}`,
  `https://h/a#${SECRET}`,
  `https://u:a/${SECRET}@h/`,
  `https://u:${SECRET}`,
  `//u:${SECRET}@h/`,
  `${SECRET}:p@h:3128`,
  `u:${SECRET}@h:3128`,
  `https:u:${SECRET}@h`,
  `https:\\\\u:${SECRET}@h`,
  `ftp://u:${SECRET}@h/`,
  `mysql://u:${SECRET}@h/d`,
  `postgres://u:${SECRET}/x@h/d`,
  `postgres://u@h/d?${SECRET}=1`,
  `host=h user=u password=${SECRET}`,
];

/** Characters that show nothing, steer a terminal, turn the direction round, or look like another. */
const UNSEEN =
  '\u0000\u0007\u001b\u007f\u0085\u00a0\u00ad\u034f\u061c\u115f\u1680\u180e\u2003\u200b\u200e\u2028\u202e\u2066' +
  '\u2800\u3000\u3164\ufe0f\ufeff\uffa0\ufff9\u{e0001}\u{e0041}\u{e0100}\u{1d173}\ud800\u0430\uff20\u0301';

/** The faults of a configuration of production with one value of it replaced. */
async function faultsWith(variable: Variable, value: string): Promise<readonly string[]> {
  const sound = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };
  const traces = variable.startsWith('OTEL_') ? { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://c:4318' } : {};
  try {
    await readConfig({}, { ...sound, ...traces, [variable]: value });
    return [];
  } catch (error) {
    assert.ok(error instanceof ConfigFaults);
    return error.faults;
  }
}

for (const variable of VARIABLES) {
  test(`a fault of ${variable} shows no secret, and no character that cannot be seen [D18]`, async () => {
    // The parts of a list are never secret, but for a password in an address.
    const holders =
      settingOf(variable).is === 'open' ? HOLDERS.filter((text) => !/^host=/.test(text)) : HOLDERS;
    const values = fc.oneof(
      fc.constantFrom(...holders),
      fc
        .tuple(fc.constantFrom(...holders), fc.constantFrom(...UNSEEN), fc.nat(20))
        .map(([text, unseen, at]) => text.slice(0, at) + unseen + text.slice(at))
        .filter((text) => text.includes(SECRET)),
      fc
        .tuple(fc.constantFrom('8080', 'a', '*', '/a~', 'a='), fc.constantFrom(...UNSEEN))
        .map((parts) => parts.join('')),
      fc.tuple(fc.constantFrom(...UNSEEN), fc.constantFrom('8080', 'a', ',b')).map((parts) => parts.join('')),
    );
    await fc.assert(
      fc.asyncProperty(values, async (value) => {
        for (const fault of await faultsWith(variable, value)) {
          assert.ok(!fault.includes(SECRET), fault);
          assert.match(fault, /^[ -~…§]*$/);
        }
      }),
      { numRuns: 60 },
    );
  });
}

for (const variable of VARIABLES.filter((each) => settingOf(each).is === 'address')) {
  test(`of a text in ${variable} that is no address nothing is shown [D18]`, async () => {
    for (const text of ['word', SECRET, `user:${SECRET}`, `${SECRET}:1`]) {
      const faults = await faultsWith(variable, text);
      assert.ok(faults.length > 0);
      for (const fault of faults) assert.match(fault, /, received "…"/);
    }
  });
}

for (const variable of VARIABLES.filter((each) => settingOf(each).is === 'file')) {
  test(`of a text in ${variable} that is the name of no file nothing is shown [D18]`, async () => {
    const faults = await faultsWith(variable, `/${SECRET}`);
    // One is read with PostgreSQL alone, and the other is made.
    const isTaken = ['TODO_DATABASE_PASSWORD_FILE', 'TODO_SOCKET'].includes(variable);
    assert.equal(faults.length, isTaken ? 0 : 1);
    for (const fault of faults) assert.match(fault, /, received a name(?:: |$)/);
  });
}

test('a character that cannot be seen takes no password in an address out of hiding [D18]', async () => {
  const text = `https://u:${SECRET}`;
  for (const unseen of UNSEEN) {
    for (const at of [6, 7]) {
      const value = text.slice(0, at) + unseen + text.slice(at);
      const [fault = ''] = await faultsWith('TODO_AUTH_REQUIRED_CLAIMS', value);
      assert.match(fault, /, received "https:(?:\/\/)?…"$/);
    }
  }
});

test('an address is no folder, and no command makes one of its name [D18]', async () => {
  for (const TODO_DATA_DIR of [`https://u:${SECRET}@h/`, `postgres://u:${SECRET}@h/d`]) {
    for (const command of [['serve'], ['migrate'], ['token', 'create', '--name=Ada'], ['check']]) {
      const env = { TODO_ENVIRONMENT: 'development', TODO_DATA_DIR };
      const { code, stderr } = await runCommand(command, { env });
      assert.equal(code, 78);
      assert.match(stderr, /TODO_DATA_DIR must be a folder, not an address, received "\w+:\/\/…@h\/d?"\n$/);
    }
  }
});

test('no output of a command has a secret of a value, with all settings at once [D18]', async () => {
  for (const holder of HOLDERS.slice(0, 5)) {
    const env = Object.fromEntries(VARIABLES.map((variable) => [variable, holder]));
    for (const command of [['serve'], ['config'], ['check'], ['token', 'verify', '-'], [holder]]) {
      const { code, stdout, stderr } = await runCommand(command, { env });
      assert.notEqual(code, 0);
      assert.ok(!`${stdout}${stderr}`.includes(SECRET), stderr);
    }
  }
});
