import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { type Config, readConfig } from '../../src/config.ts';
import { VARIABLES } from '../../src/settings.ts';
import { runProgram, startService } from '../start.ts';

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
  const result = await readConfig({}, { ...IMAGE, ...env });
  if ('faults' in result) throw new Error(result.faults.join('\n'));
  return result.config;
}

async function answersOf(paths: readonly string[]): Promise<readonly number[]> {
  await using service = await startService({ profile: 'error-demo', env: { TODO_ADMIN_PORT: '0' } });
  const adminUrl = /"adminUrl":"([^"]*)"/.exec(service.stdout())?.[1];
  return await Promise.all(paths.map(async (path) => (await fetch(`${adminUrl}${path}`)).status));
}

describe('docs/kubernetes.yaml', () => {
  const objects = parseAllDocuments(read('docs/kubernetes.yaml')).map((document) => document.toJS());
  const object = (kind: string) => objects.find((each) => each.kind === kind);
  const { replicas, strategy, template } = object('Deployment').spec;
  const [container] = template.spec.containers;
  const variables = Object.fromEntries(
    container.env.map(({ name, value }: { name: string; value?: string }) => [
      name,
      value ?? 'postgres://todo@db.example/todos',
    ]),
  );
  const portOf = (name: string) =>
    container.ports.find((port: { name: string }) => port.name === name)?.containerPort;

  test('names the image of this version', () => {
    assert.equal(container.image, `registry.example/todo-service:${manifest.version}`);
  });

  test('has variables that the service takes, and the ports that follow from them', async () => {
    const { port, host, admin, profile } = await configOf(variables);
    assert.equal(portOf('http'), port);
    assert.equal(portOf('admin'), admin?.port);
    assert.deepEqual([host, admin?.host], ['0.0.0.0', '0.0.0.0']);
    assert.equal(profile.name === 'shared-list' && profile.database.engine, 'postgresql');
  });

  test('asks paths that the admin listener answers, and lets no database restart a pod', async () => {
    const probes = [container.startupProbe, container.livenessProbe, container.readinessProbe];
    assert.deepEqual(await answersOf(probes.map(({ httpGet }) => httpGet.path)), [200, 200, 200]);
    assert.deepEqual(
      probes.map(({ httpGet }) => httpGet.port),
      ['admin', 'admin', 'admin'],
    );
    assert.equal(container.livenessProbe.httpGet.path, '/live');
  });

  test('gives a pod more time to stop than it takes', async () => {
    assert.ok(template.spec.terminationGracePeriodSeconds > longestStop(await configOf(variables)));
  });

  test('lets a pod have more memory than the alert speaks of', () => {
    const alert = Number(/process_memory_usage_bytes\S* > (\d+)/.exec(read('docs/alerts.yaml'))?.[1]);
    assert.ok(Number(/^(\d+)Gi$/.exec(container.resources.limits.memory)?.[1]) * 2 ** 30 > alert);
  });

  test('is never without an instance', () => {
    assert.equal(replicas, 2);
    assert.deepEqual(strategy, { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } });
    assert.equal(object('PodDisruptionBudget').spec.minAvailable, 1);
  });

  test('runs as a user of the image who may do nothing, and the policy and the service find its pods', () => {
    assert.equal(
      template.spec.securityContext.runAsUser,
      Number(/^USER (\d+)/m.exec(read('Containerfile'))?.[1]),
    );
    const { readOnlyRootFilesystem, capabilities } = container.securityContext;
    assert.deepEqual([readOnlyRootFilesystem, capabilities], [true, { drop: ['ALL'] }]);
    const selectors = [
      object('NetworkPolicy').spec.podSelector.matchLabels,
      object('PodDisruptionBudget').spec.selector.matchLabels,
      object('Service').spec.selector,
    ];
    for (const labels of selectors) assert.deepEqual(labels, template.metadata.labels);
    const named = [
      ...object('Service').spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort),
      ...object('NetworkPolicy').spec.ingress.flatMap(({ ports }: { ports: { port: string }[] }) =>
        ports.map(({ port }) => port),
      ),
    ];
    assert.deepEqual(named, ['http', 'http', 'admin']);
  });
});

describe('docs/compose.yaml', () => {
  const { services, configs } = parse(read('docs/compose.yaml'));
  const service = services['todo-service'];
  const [defaults, chosen] = ['', 'chosen'].map((otherwise) =>
    Object.fromEntries(
      Object.entries(service.environment).map(([name, value]) => [
        name,
        String(value).replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)\}/, (_, fallback) => fallback ?? otherwise),
      ]),
    ),
  );

  test('names the image of this version', () => {
    assert.equal(service.image, `todo-service:${manifest.version}`);
  });

  test('has variables that the service takes, and the port that follows from them', async () => {
    const { port, admin, profile } = await configOf(defaults ?? {});
    assert.equal(service.ports[0], `127.0.0.1:${port}:${port}`);
    assert.equal(admin?.port, 9090);
    assert.equal(profile.name === 'shared-list' && profile.database.engine, 'postgresql');
    assert.equal(chosen?.PGPASSWORD, 'chosen', 'a password must be chosen');
  });

  test('asks by a command that there is', async () => {
    const [kind, program, ...words] = service.healthcheck.test;
    assert.deepEqual([kind, program], ['CMD', /ENTRYPOINT \["(.*)"\]/.exec(read('Containerfile'))?.[1]]);
    assert.equal((await runProgram([...words, '--help'])).code, 0);
  });

  test('gives a container more time to stop than it takes', async () => {
    assert.ok(Number.parseInt(service.stop_grace_period, 10) > longestStop(await configOf(defaults ?? {})));
  });

  test('has a provider whose issuer, audience and role are those that the service expects', async () => {
    const realm = JSON.parse(configs.realm.content);
    assert.equal(defaults?.TODO_AUTH_ISSUER, `http://127.0.0.1:8080/realms/${realm.realm}`);
    assert.equal(services.provider.network_mode, 'service:todo-service');
    assert.ok(service.ports.includes('127.0.0.1:8080:8080'));
    const [audience, roles] = realm.clients[0].protocolMappers;
    assert.equal(audience.config['included.custom.audience'], defaults?.TODO_AUTH_AUDIENCE);
    assert.equal(roles.config['claim.name'], 'roles');
    assert.deepEqual(realm.users[0].realmRoles, ['editor']);
    assert.deepEqual(realm.roles.realm, [{ name: 'editor' }]);
    assert.equal(realm.users[1].realmRoles, undefined);
  });
});
