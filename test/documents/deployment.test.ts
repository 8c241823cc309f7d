import assert from 'node:assert/strict';
import { execFile, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { signer } from '../../packages/conformance/src/sign.ts';
import { type Config, readConfig } from '../../src/server/config.ts';
import { VARIABLES } from '../../src/settings/table.ts';
import { run } from '../../tools/command.ts';
import { PAGES } from '../../tools/pages.ts';
import { PAGE, settingsOf } from '../auth/provider-page.ts';
import { listen, temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { todo } from '../support/todo.ts';

const read = (name: string) => readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8');

/** What the image sets by itself. */
const IMAGE = Object.fromEntries(
  Array.from(read('Containerfile').matchAll(/\b(TODO_\w+)=(\S+)/g), ([, name = '', value = '']) => [
    name,
    value,
  ]),
);

/** Seconds from the signal until the process has ended, at the most. */
function longestStop({ shutdownDelaySeconds, shutdownSeconds }: Config): number {
  return shutdownDelaySeconds + shutdownSeconds + 5;
}

/** What the service makes of variables. Every name must be one that it reads, or one of libpq's. */
async function configOf(env: Readonly<Record<string, string>>): Promise<Config> {
  const known: readonly string[] = VARIABLES;
  for (const name of Object.keys(env)) assert.ok(known.includes(name) || name.startsWith('PG'), name);
  const { config } = await readConfig({}, { ...IMAGE, ...env });
  return config;
}

test('every page and example mounts folders, never a file alone [D6]', () => {
  const files = [...PAGES.filter((page) => page !== 'CHANGELOG.md'), ...globSync('deploy/**/*.yaml')];
  const mounts = /(?:--volume|-v)[ =][^\s:]+:(\/[^\s:`]+)|^ +- [\w./-]+:(\/\S+)|mountPath: ([^\s,}]+)/gm;
  const targets = files.flatMap((file) =>
    Array.from(read(file).matchAll(mounts), ([, ...found]) => found.join('')),
  );
  assert.ok(targets.length >= 10, `${targets}`);
  assert.deepEqual(
    targets.filter((target) => /\.\w+$/.test(target)),
    [],
  );
  assert.deepEqual(
    files.filter((file) => file.endsWith('.yaml') && read(file).includes('subPath')),
    [],
  );
});

describe('deploy/compose.yaml', () => {
  const text = read('deploy/compose.yaml');
  const { services, configs } = parse(text);
  const service = services['todo-service'];
  const [defaults, chosen] = ['', 'chosen'].map((otherwise) =>
    Object.fromEntries(
      Object.entries(service.environment).map(([name, value]) => [
        name,
        String(value).replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)\}/, (_, fallback) => fallback ?? otherwise),
      ]),
    ),
  );

  test('has what the schema of Compose allows', () => {
    const dclint = fileURLToPath(new URL('../../node_modules/.bin/dclint', import.meta.url));
    run(
      process.execPath,
      dclint,
      '--quiet',
      fileURLToPath(new URL('../../deploy/compose.yaml', import.meta.url)),
    );
  });

  test('names the image of this version', () => {
    assert.equal(service.image, `todo-service:${manifest.version}`);
  });

  test('has variables that the service takes, and the port that follows from them', async () => {
    const { address, admin, profile } = await configOf(defaults ?? {});
    assert.partialDeepStrictEqual(address, { port: 5080 });
    assert.equal(service.ports[0], '127.0.0.1:5080:5080');
    assert.equal(admin?.port, 9090);
    assert.equal(profile.name === 'shared-list' && profile.database.engine, 'postgresql');
    assert.equal(chosen?.PGPASSWORD, 'chosen', 'a password must be chosen');
  });

  test('bounds the log of each container', () => {
    for (const { logging } of Object.values<{ logging: unknown }>(services))
      assert.deepEqual(logging, { driver: 'json-file', options: { 'max-size': '10m', 'max-file': '5' } });
  });

  const missing = ['curl', 'openssl'].filter((name) => spawnSync(name, ['--version']).error !== undefined);
  const skip = missing.length > 0 && `needs ${missing.join(' and ')}`;
  test('its header run twice keeps the password, and ends with a todo that the service makes', {
    skip,
  }, async () => {
    const realm = JSON.parse(configs.realm.content);
    const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(32) };
    await using list = await startService({ profile: 'shared-list', environment: 'production', auth });
    const provider = createServer(async (request, response) => {
      const asked = new URLSearchParams(await textOf(request));
      assert.equal(request.url, `/realms/${realm.realm}/protocol/openid-connect/token`);
      assert.equal(asked.get('client_id'), realm.clients[0].clientId);
      const { username, credentials } = realm.users[0];
      assert.deepEqual([asked.get('username'), asked.get('password')], [username, credentials[0].value]);
      const token = signer(auth)({ name: 'Ada', roles: realm.users[0].realmRoles });
      response.end(JSON.stringify({ access_token: token, expires_in: 300, token_type: 'Bearer' }));
    });
    const providerUrl = `http://127.0.0.1:${await listen(provider)}`;
    await using folder = await temporaryFolder();
    await writeFile(join(folder.path, 'docker'), '#!/bin/sh\necho "$@" >>calls\n', { mode: 0o755 });
    const script = Array.from(text.matchAll(/^# {3}(.*)$/gm), ([, line]) => line)
      .join('\n')
      .replace('http://127.0.0.1:8080', providerUrl)
      .replace('http://127.0.0.1:5080', list.baseUrl);
    const made: unknown[] = [];
    const passwords = new Set<string>();
    try {
      for (let run = 1; run <= 2; run += 1) {
        const env = { PATH: `${folder.path}:${process.env.PATH}` };
        const { stdout } = await promisify(execFile)('sh', ['-ec', script], { cwd: folder.path, env });
        made.push(JSON.parse(stdout));
        passwords.add(await readFile(join(folder.path, '.env'), 'utf8'));
      }
    } finally {
      provider.close();
    }
    assert.deepEqual(
      made,
      [1, 2].map((id) => todo(id, 'Buy milk')),
    );
    assert.equal(passwords.size, 1);
    assert.match([...passwords].join(), /^POSTGRES_PASSWORD=[0-9a-f]{32}\n$/);
    assert.equal((await stat(join(folder.path, '.env'))).mode & 0o777, 0o600);
    const call = 'compose --profile try up --detach\n';
    assert.equal(await readFile(join(folder.path, 'calls'), 'utf8'), call + call);
  });

  test('its header adds a password to what .env has, once', { skip }, async () => {
    await using folder = await temporaryFolder();
    const file = join(folder.path, '.env');
    await writeFile(file, 'TODO_AUTH_ISSUER=https://login.example.org\n');
    const [, line = ''] = /^# {3}(.*)$/m.exec(text) ?? [];
    for (let run = 1; run <= 2; run += 1)
      await promisify(execFile)('sh', ['-ec', line], { cwd: folder.path });
    assert.match(
      await readFile(file, 'utf8'),
      /^TODO_AUTH_ISSUER=https:\/\/login\.example\.org\nPOSTGRES_PASSWORD=[0-9a-f]{32}\n$/,
    );
  });

  test('asks by a command that there is', async () => {
    const [kind, program, ...words] = service.healthcheck.test;
    assert.deepEqual([kind, program], ['CMD', /ENTRYPOINT \["(.*)"\]/.exec(read('Containerfile'))?.[1]]);
    assert.equal((await runCommand([...words, '--help'])).code, 0);
  });

  test('gives a container more time to stop than it takes', async () => {
    assert.ok(Number.parseInt(service.stop_grace_period, 10) > longestStop(await configOf(defaults ?? {})));
  });

  test('has a provider whose issuer, audience, role, client and users are those of the service and of the page on providers', async () => {
    const realm = JSON.parse(configs.realm.content);
    assert.equal(defaults?.TODO_AUTH_ISSUER, `http://127.0.0.1:8080/realms/${realm.realm}`);
    assert.equal(services.provider.network_mode, 'service:todo-service');
    assert.ok(service.ports.includes('127.0.0.1:8080:8080'));
    const { clientId, protocolMappers } = realm.clients[0];
    const [audience, roles] = protocolMappers;
    assert.equal(audience.config['included.custom.audience'], defaults?.TODO_AUTH_AUDIENCE);
    assert.equal(roles.config['claim.name'], 'roles');
    assert.deepEqual(realm.users[0].realmRoles, ['editor']);
    assert.deepEqual(realm.roles.realm, [{ name: 'editor' }]);
    assert.equal(realm.users[1].realmRoles, undefined);
    const [, page = ''] = /\n## Keycloak\n(.*?)\n## /s.exec(PAGE) ?? [];
    const [ada, bob] = realm.users.map((user: { readonly username: string }) => user.username);
    const tried = `the client \`${clientId}\` and the users \`${ada}\`, who may write, and \`${bob}\``;
    assert.ok(page.replaceAll('\n', ' ').includes(tried), page);
    assert.ok(page.includes(`*Included Custom Audience* \`${audience.config['included.custom.audience']}\``));
    const { TODO_AUTH_ISSUER, TODO_AUTH_AUDIENCE } = settingsOf('Keycloak');
    assert.equal(TODO_AUTH_ISSUER, `https://id.example.org/realms/${realm.realm}`);
    assert.equal(TODO_AUTH_AUDIENCE, defaults?.TODO_AUTH_AUDIENCE);
    assert.ok(page.includes(`*Realm roles*, *Create role*: \`${realm.roles.realm[0].name}\``));
    for (const { username, credentials } of realm.users) assert.equal(credentials[0].value, username);
  });
});

describe('deploy/todo-service.socket', () => {
  const service = read('deploy/todo-service.service');
  const socket = read('deploy/todo-service.socket');
  const valuesOf = (unit: string, name: string) =>
    Array.from(unit.matchAll(new RegExp(`^${name}=(.*)$`, 'gm')), ([, value = '']) => value);

  test('holds the address at which the service listens by default, for one process, with a queue of 4,096', () => {
    assert.deepEqual(valuesOf(socket, 'ListenStream'), ['127.0.0.1:5080']);
    assert.deepEqual(valuesOf(socket, 'Backlog'), ['4096']);
    assert.deepEqual(valuesOf(socket, 'Accept'), []);
  });

  test('starts with the service once it is enabled, and neither before it nor because of it', () => {
    assert.deepEqual(valuesOf(socket, 'WantedBy'), ['todo-service.service']);
    assert.match(valuesOf(service, 'After').join(' '), /\btodo-service\.socket\b/);
    assert.doesNotMatch(service, /^(?:Requires|Wants|BindsTo|Sockets|Also)=.*todo-service\.socket/m);
  });

  const [, script = ''] = /^ExecStopPost=\+\/bin\/sh -c '(.*)'$/m.exec(service) ?? [];
  for (const [end, orders] of [
    ...valuesOf(service, 'RestartPreventExitStatus')
      .flatMap((codes) => codes.split(' '))
      .map((code) => [code, '--no-block stop todo-service.socket\n'] as const),
    ...['0', '1', '69', '75', '143', '203', 'KILL', 'TERM', ''].map((end) => [end, ''] as const),
  ]) {
    test(`${orders === '' ? 'stays open' : 'is closed'} when the service ends with "${end}"`, async () => {
      await using folder = await temporaryFolder();
      await writeFile(join(folder.path, 'systemctl'), '#!/bin/sh\necho "$@"\n', { mode: 0o755 });
      const env = { PATH: folder.path, EXIT_STATUS: end };
      const { stdout } = await promisify(execFile)('/bin/sh', ['-c', script.replaceAll('$$', '$')], { env });
      assert.equal(stdout, orders);
    });
  }
});

test('the proxies run as the users that Debian gives them', () => {
  assert.match(read('docs/behind-a-proxy.md'), /^sed -e '[^'\n]+; 1i user www-data;' /m);
  assert.match(
    read('deploy/proxies/haproxy.cfg'),
    /^global\n(?: {2}.*\n)* {2}user haproxy\n {2}group haproxy\n/m,
  );
});
