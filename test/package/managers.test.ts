import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { copyFile, mkdtemp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { signer } from '../../packages/conformance/src/sign.ts';
import { temporaryFolder } from '../support/folder.ts';
import { authVariables } from '../support/start.ts';
import { install, pack, plainEnvironment, registryOf } from './npm.ts';
import { run, serve } from './program.ts';
import { create, read } from './ways.ts';

interface Manager {
  /** How it adds the tarball that lies in the folder. */
  readonly add: readonly [string, ...string[]];
  /** How it runs the program of the package. */
  readonly program: readonly [string, ...string[]];
  readonly env?: Readonly<Record<string, string>>;
}

const TARBALL = './todo-service.tgz';
const INSTALLED = 'node_modules/.bin/todo-service';
const YARN = ['yarn', 'add', `todo-service@${TARBALL}`] as const;

const MANAGERS: Readonly<Record<string, Manager>> = {
  'Yarn with Plug’n’Play': {
    add: YARN,
    program: ['yarn', 'todo-service'],
    env: { YARN_NODE_LINKER: 'pnp' },
  },
  'Yarn with node_modules': { add: YARN, program: [INSTALLED], env: { YARN_NODE_LINKER: 'node-modules' } },
  pnpm: { add: ['pnpm', 'add', TARBALL], program: [INSTALLED] },
  Bun: { add: ['bun', 'add', TARBALL], program: [INSTALLED] },
};

describe('The npm package, installed by', () => {
  const parts = new AsyncDisposableStack();
  const auth = { issuer: 'https://issuer.test', audience: 'todos', secret: randomBytes(32) };
  let folder = '';
  let tarball = '';
  let environment: Readonly<Record<string, string | undefined>> = {};

  before(async () => {
    folder = parts.use(await temporaryFolder()).path;
    ({ tarball } = await pack(folder));
    const managers = await mkdtemp(join(folder, 'managers-'));
    await install(managers, '@yarnpkg/cli-dist@4.18.1', 'pnpm@12.21.0', 'bun@1.4.5');
    const registry = await registryOf(folder);
    environment = {
      ...plainEnvironment,
      PATH: `${join(managers, 'node_modules/.bin')}:${dirname(process.execPath)}:/usr/bin:/bin`,
      HOME: folder,
      npm_config_registry: registry,
      YARN_NPM_REGISTRY_SERVER: registry.replace(/\/$/, ''),
      YARN_ENABLE_TELEMETRY: '0',
      YARN_ENABLE_IMMUTABLE_INSTALLS: '0',
    };
  });
  after(() => parts.disposeAsync());

  for (const [name, { add, program, env = {} }] of Object.entries(MANAGERS)) {
    const isParent = program.length > 1;
    const skip = isParent && process.platform !== 'linux' && 'Linux alone lists the children of a process';
    test(`${name}, serves, makes a token, and restores its own backup`, { skip }, async () => {
      const cwd = await mkdtemp(join(folder, 'user-'));
      await writeFile(join(cwd, 'package.json'), '{"name":"user","private":true}');
      // Without it, Yarn takes the folder for a part of a project above it.
      await writeFile(join(cwd, 'yarn.lock'), '');
      await copyFile(tarball, join(cwd, TARBALL));
      const place = { cwd, env: { ...environment, ...env }, isParent };
      const [manager, ...words] = add;
      const added = await run(manager, words, place);
      assert.equal(added.code, 0, added.stdout + added.stderr);

      const [file, ...first] = program;
      const command = async (...words: readonly string[]) => {
        const { code, stdout, stderr } = await run(file, [...first, ...words], place);
        assert.equal(code, 0, stdout + stderr);
        return stdout.trim();
      };
      {
        const words = [...first, 'serve', '--environment', 'development', '--port', '0'];
        await using service = await serve(file, words, place);
        const token = await command('token', 'create', '--name', 'ada', '--role', 'editor');
        await create(service, token);
        await command('backup', 'copy.db');
        assert.equal(await service.stop(), 0, service.stdout());
      }
      assert.match(await command('restore', 'copy.db'), /^Restored .*: todos 1, categories 2/);

      const production = { ...place, env: { ...place.env, ...(await authVariables(auth, cwd)) } };
      await using service = await serve(file, [...first, 'serve', '--port', '0'], production);
      await read(service, signer(auth)({ name: 'ada' }));
      assert.equal(await service.stop(), 0, service.stdout());
    });
  }
});
