import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePort, temporaryFolder } from './folder.ts';

/** A proxy under way. Owned: `await using`. */
export interface ReverseProxy extends AsyncDisposable {
  readonly url: string;
}

/** @param port of the service behind it, on 127.0.0.1. */
export type StartProxy = (port: number) => Promise<ReverseProxy>;

/** Debian puts them where only root looks. */
export const env = { ...process.env, PATH: `${process.env.PATH}:/usr/sbin` };

const examples = fileURLToPath(new URL('../../deploy/proxies/', import.meta.url));

/** Why no such proxy can be started here, for the `skip` of a test; false when one can. */
export function noHaproxy(): string | false {
  const found = spawnSync('haproxy', ['-v'], { env }).status === 0;
  return !found && 'there is no haproxy on the PATH: on Debian "apt-get install haproxy"';
}

/** As `noHaproxy`. */
export function noNginx(): string | false {
  const loading = ['-g', 'load_module modules/ngx_http_js_module.so;'];
  const args = ['-t', '-e', '/dev/null', '-c', '/dev/null', ...loading];
  const { error, stderr } = spawnSync('nginx', args, { env, encoding: 'utf8' });
  const found = error === undefined && !stderr.includes('dlopen');
  return !found && 'there is no nginx with njs: on Debian "apt-get install nginx-light libnginx-mod-http-js"';
}

/** The example of the documents, with other ports, and patience for a slow machine. */
export const startHaproxyOfHeld =
  (program = 'haproxy'): StartProxy =>
  (port) =>
    startHaproxyOf(port, (example) => example, program);

/** The same, with the lines for an instance whose address nobody holds. */
export const startHaproxy =
  (program = 'haproxy'): StartProxy =>
  (port) =>
    startHaproxyOf(
      port,
      (example) => {
        const [first = '', rest = ''] = withoutHeld(example).split(NOBODY_HOLDS);
        return first + rest.replace(/^( *)# (?=server|use-server|listen|bind|errorfile)/gm, '$1');
      },
      program,
    );

/** An instance behind a proxy, on 127.0.0.1. */
export interface Behind {
  readonly port: number;
  readonly adminPort: number;
}

/** The same, with the lines for several instances, on two machines. */
export const startHaproxyOfTwo = (one: Behind, two: Behind): Promise<ReverseProxy> =>
  startHaproxyOf(one.port, (example) =>
    [one, two].reduce(
      (text, { port, adminPort }, index) =>
        text.replace(`10.0.0.${index + 1}:5080 check port 9090`, `127.0.0.1:${port} check port ${adminPort}`),
      severalOf(example, /option|server \w+ 10\./),
    ),
  );

/** The same, with the lines for three instances on one machine. */
export const startHaproxyOfThree = (instances: readonly Behind[]): Promise<ReverseProxy> =>
  startHaproxyOf(0, (example) =>
    instances.reduce(
      (text, { port, adminPort }, index) =>
        text
          .replace(`127.0.0.1:508${index + 1} `, `127.0.0.1:${port} `)
          .replace(`check port 919${index + 1} `, `check port ${adminPort} `),
      severalOf(example, /option|server \w+ 127\./),
    ),
  );

/** Begins the lines of haproxy.cfg for an instance whose address nobody holds. */
const NOBODY_HOLDS = /^ *# One instance whose address nobody holds.*\n.*\n/m;

function severalOf(example: string, lines: RegExp): string {
  const uncommented = new RegExp(`^( *)# (?=${lines.source})`, 'gm');
  return (withoutHeld(example).split(NOBODY_HOLDS)[0] ?? '').replace(uncommented, '$1');
}

/** An example without its lines for an instance whose address systemd holds. */
function withoutHeld(example: string): string {
  return example.replace(/^ *server (?:one )?127\.0\.0\.1:.*\n/gm, '');
}

async function startHaproxyOf(
  port: number,
  change: (example: string) => string,
  program = 'haproxy',
): Promise<ReverseProxy> {
  const folder = await temporaryFolder();
  const own = await freePort();
  const example = change(withPorts(await readFile(join(examples, 'haproxy.cfg'), 'utf8'), port, own));
  // Its descriptors are within the limit of 1,024 that many machines have, and its user is that of the tests.
  const config = example
    .replace(/^( *maxconn) \d+$/m, '$1 300')
    .replaceAll(/^ *(?:user|group) haproxy\n/gm, '')
    .replaceAll('127.0.0.1:8081', `127.0.0.1:${await freePort()}`);
  const file = await folder.write('haproxy.cfg', config);
  return started(spawn(program, ['-db', '-f', file], { env, stdio: 'inherit' }), own, folder);
}

/** The example of the documents, with other ports and folders, and patience for a slow machine. */
export const startNginx: StartProxy = (port) => startNginxOf('nginx.conf', port, (example) => example);

/** The example for several instances, as the page changes it for one whose address is held. */
export const startNginxOfHeld =
  (program = 'nginx'): StartProxy =>
  (port) =>
    startNginxOf('nginx-several.conf', port, heldOf, program);

/** What the page's command makes of an example. */
const heldOf = (example: string): string => changed(example, /^sed -e '([^']+)'/m);

/** @param command The script of a command of sed on the page. */
function changed(example: string, command: RegExp): string {
  const page = readFileSync(new URL('../../docs/behind-a-proxy.md', import.meta.url), 'utf8');
  const [, script = ''] = command.exec(page) ?? [];
  return spawnSync('sed', ['-e', script], { input: example, encoding: 'utf8' }).stdout;
}

/** An example as a site of an nginx.conf that says what Debian's says, as the page has it. */
export const startNginxAsSite =
  (name: string): StartProxy =>
  (port) =>
    startNginxOf(name, port, (example) => {
      const site = changed(name === 'nginx.conf' ? example : heldOf(example), /`sed '([^']+)' /);
      const modules = /^load_module .*\n/m.exec(example)?.[0] ?? '';
      return `${modules}events { worker_connections 768; }
http {
  sendfile on;
  tcp_nopush on;
  types_hash_max_size 2048;
  include /etc/nginx/mime.types;
  default_type application/octet-stream;
  access_log /dev/null;
  gzip on;
${site}}`;
    });

/** The example for several instances, on two machines. */
export const startNginxOfTwo = (one: Behind, two: Behind): Promise<ReverseProxy> =>
  startNginxOf('nginx-several.conf', one.port, (example) =>
    example
      .replace('10.0.0.1:5080', `127.0.0.1:${one.port}`)
      .replace('10.0.0.2:5080', `127.0.0.1:${two.port}`),
  );

/** The same, with the lines for three instances on one machine. */
export const startNginxOfThree = (instances: readonly Behind[]): Promise<ReverseProxy> =>
  startNginxOf('nginx-several.conf', 0, (example) =>
    instances.reduce(
      (text, { port }, index) =>
        text.replace(`# server 127.0.0.1:508${index + 1} `, `server 127.0.0.1:${port} `),
      example.replace(/^ *server 10\..*\n/gm, ''),
    ),
  );

/** An example, started with this limit of open files, which it may raise. */
export const startNginxWithLimit =
  (example: string, limit: number): StartProxy =>
  (port) =>
    startNginxOf(example, port, (text) => text.replace('10.0.0.1:5080', `127.0.0.1:${port}`), 'sh', [
      '-c',
      `ulimit -Sn ${limit} && exec nginx "$@"`,
      'sh',
    ]);

/** An example with the service below /api, beside a page's files. */
export const startNginxWithPage =
  (example: string, files: string): StartProxy =>
  (port) =>
    startNginxOf(example, port, (text) =>
      text
        .replace(/^ *server 10\.0\.0\.2.*\n/m, '')
        .replace('10.0.0.1:5080', `127.0.0.1:${port}`)
        .replace(/^( *)location \/ \{$/m, '$1location /api/ {')
        .replace(/^( *)# (.*) # \/api$/gm, '$1$2')
        .replace('/var/www/todo', `"${files}"`),
    );

/** The same, with the lines for TLS in place of the one without. */
export const startTlsNginx: StartProxy = async (port) => {
  await using folder = await temporaryFolder();
  const [certificate, key] = [join(folder.path, 'cert.pem'), join(folder.path, 'key.pem')];
  const subject = ['-nodes', '-subj', '/CN=localhost', '-days', '1'];
  const made = spawnSync('openssl', ['req', '-x509', ...subject, '-keyout', key, '-out', certificate]);
  if (made.status !== 0) throw new Error(String(made.stderr ?? made.error));
  const { url, ...proxy } = await startNginxOf('nginx.conf', port, (example) =>
    example
      .replace(/^( *)listen (127.*);\n *# listen 443( ssl.*;)/m, '$1listen $2$3')
      .replace(/# (ssl_certificate +).*;/, `$1"${certificate}";`)
      .replace(/# (ssl_certificate_key +).*;/, `$1"${key}";`),
  );
  return { ...proxy, url: url.replace('http:', 'https:') };
};

async function startNginxOf(
  name: string,
  port: number,
  change: (example: string) => string,
  program = 'nginx',
  before: readonly string[] = [],
): Promise<ReverseProxy> {
  const folder = await temporaryFolder();
  const own = await freePort();
  const example = withPorts(change(await readFile(join(examples, name), 'utf8')), port, own);
  const file = join(folder.path, 'nginx.conf');
  const folders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const places = folders.map((name) => `${name}_temp_path "${folder.path}/${name}";`).join('\n');
  const config = example
    .replace(/^user .*\n/, '')
    .replace('js_path /etc/nginx/', `js_path "${folder.path}/"`)
    .replace('http {', `http {\n${places}`);
  await writeFile(file, `pid "${folder.path}/pid";\ndaemon off;\nuser root;\n${config}`);
  await writeFile(
    join(folder.path, 'bridge.js'),
    patient(await readFile(join(examples, 'bridge.js'), 'utf8')),
  );
  const words = [...before, '-e', join(folder.path, 'error.log'), '-c', file];
  const child = spawn(program, words, { env, stdio: 'inherit' });
  return started(child, own, folder);
}

/** Starts a program with this example, with other ports. @param wordsOf The words behind the program, for the file. @param at The port of the proxy. */
export async function startExample(
  name: string,
  port: number,
  change: (example: string, folder: string) => string,
  program: string,
  wordsOf: (file: string) => readonly string[],
  at?: number,
): Promise<ReverseProxy> {
  const folder = await temporaryFolder();
  const own = at ?? (await freePort());
  const example = withPorts(await readFile(join(examples, name), 'utf8'), port, own);
  const file = await folder.write(name, change(example, folder.path));
  return started(spawn(program, wordsOf(file), { env, stdio: ['ignore', 'ignore', 'inherit'] }), own, folder);
}

function withPorts(example: string, port: number, own: number): string {
  return patient(example)
    .replace(/127\.0\.0\.1:5080\b/g, `127.0.0.1:${port}`)
    .replace(/127\.0\.0\.1:8080\b/g, `127.0.0.1:${own}`)
    .replace('http://:8080', `http://:${own}`)
    .replace(/port_value: 5080\b/, `port_value: ${port}`)
    .replace(/port_value: 8080\b/, `port_value: ${own}`);
}

/** What bridges 10 s bridges 100: a service that is stopped and started on a slow machine may take longer than the first. */
function patient(example: string): string {
  return example
    .replace('retries 40', 'retries 400')
    .replaceAll('num_retries: 40', 'num_retries: 400')
    .replace(/(timeout server|timeout:) 30s/g, '$1 130s')
    .replace('lb_try_duration 10s', 'lb_try_duration 100s')
    .replace('PATIENCE_MS = 10000', 'PATIENCE_MS = 100000');
}

async function started(child: ChildProcess, port: number, folder: AsyncDisposable): Promise<ReverseProxy> {
  const exited = once(child, 'exit');
  while (!(await listens(port))) {
    if (child.exitCode !== null) throw new Error(`the proxy ended with ${child.exitCode}`);
    await pause(20);
  }
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      child.kill();
      await exited;
      await folder[Symbol.asyncDispose]();
    },
  };
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
