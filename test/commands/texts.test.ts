import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfig } from '../../src/server/config.ts';
import { ConfigFaults } from '../../src/settings/read.ts';
import { settingOf, VARIABLES, type Variable } from '../../src/settings/table.ts';
import { runCommand } from '../support/run-command.ts';

const TEXTS = VARIABLES.filter((variable) => 'text' in settingOf(variable) || 'host' in settingOf(variable));

const SOUND = { TODO_AUTH_ISSUER: 'https://login.example.org', TODO_AUTH_AUDIENCE: 'todo-service' };

/** What else must be set for a setting to be read. */
const NEEDED: Readonly<Partial<Record<Variable, Readonly<Record<string, string>>>>> = {
  TODO_ADMIN_HOST: { TODO_ADMIN_PORT: '0' },
  LISTEN_FDS: { LISTEN_PID: String(process.pid) },
  NO_PROXY: { HTTPS_PROXY: 'http://proxy.example' },
  TODO_DATABASE_PASSWORD_FILE: { TODO_DATABASE: 'postgres://todo@db/todos' },
  OTEL_TRACES_SAMPLER_ARG: { OTEL_TRACES_SAMPLER: 'traceidratio' },
};

const VALUES = ['postgres://todo:s3cr3t@db/todos', '/s3cr3t/file', 'http://s3cr3t.example', '"s3cr3t'];

/** As of a secret with a final line break, an env-file with quotes, and a value with a comment behind it. */
const AROUND = [
  (text: string) => `${text}\n`,
  (text: string) => `"${text}"`,
  (text: string) => ` ${text} # ours`,
];

test('no character of a name that a command cannot use is unseen, or steers the terminal', async () => {
  const name = '/dev/null/\u202e\u001b[2Jx';
  const env = { TODO_ENVIRONMENT: 'development', TODO_DATA_DIR: name };
  for (const words of [
    ['serve'],
    ['migrate'],
    ['token', 'create', '--name=Ada'],
    ['import', name],
    ['restore', name],
    ['backup', name],
  ]) {
    const { code, stderr } = await runCommand(words, { env });
    assert.notEqual(code, 0);
    assert.match(stderr, /^Cannot [^\n]*\n?[^\n]*\\u202e\\u001b\[2Jx/);
    assert.match(stderr, /^[\n -~…]*$/);
  }
});

for (const variable of TEXTS) {
  const traces = variable.startsWith('OTEL_') ? { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a.example' } : {};
  const env = { ...SOUND, ...traces, ...NEEDED[variable] };
  const flags = { 'no-migrate': variable === 'TODO_DATABASE' };
  for (const TODO_ENVIRONMENT of ['production', 'development'])
    test(`in ${TODO_ENVIRONMENT}, serve says one thing of ${variable} with something around it [D18]`, async () => {
      for (const value of AROUND.flatMap((around) => VALUES.map(around))) {
        const read = readConfig(flags, { ...env, TODO_ENVIRONMENT, [variable]: value });
        await assert.rejects(read, (error) => {
          assert.ok(error instanceof ConfigFaults);
          assert.equal(error.faults.length, 1, error.message);
          assert.match(error.message, new RegExp(`^${variable} must not `));
          assert.doesNotMatch(error.message, /s3cr3t/);
          return true;
        });
      }
    });
}
