import assert from 'node:assert/strict';
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import manifest from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/server/config.ts';
import { VARIABLES } from '../../src/settings/table.ts';
import { temporaryFolder } from '../support/folder.ts';
import { runCommand } from '../support/run-command.ts';
import { startService } from '../support/start.ts';
import { checkManifests, FOLDER, noKustomize, type Objects, rendered } from './manifests.ts';

const VARIANTS = ['postgresql', 'sqlite', 'migrate', 'move', 'restore', 'prometheus'] as const;

const read = (path: string) => readFileSync(path, 'utf8');
const of = (objects: Objects, kind: string) => objects.find((each) => each.kind === kind);
const podOf = (objects: Objects) => of(objects, 'Deployment').spec.template;

/** Every template of a pod in a variant. */
function templatesOf(objects: Objects): Objects {
  return objects.flatMap(({ kind, spec }) => {
    if (kind === 'CronJob') return [spec.jobTemplate.spec.template];
    return kind === 'Deployment' || kind === 'Job' ? [spec.template] : [];
  });
}

/** What the service of a variant makes of its variables. Every name must be one that it reads. */
async function configOf(objects: Objects) {
  const [{ env = [] }] = podOf(objects).spec.containers;
  const values: Record<string, string> = { TODO_HOST: '0.0.0.0', TODO_DATA_DIR: '/data' };
  Object.assign(values, of(objects, 'ConfigMap').data);
  for (const { name, value } of env) values[name] = value ?? 'postgres://todo@db.example/todos';
  const known: readonly string[] = VARIABLES;
  for (const name of Object.keys(values)) assert.ok(known.includes(name), name);
  const { config } = await readConfig({}, values);
  return config;
}

/** Whether a selector takes the pods of a template. */
function selects(
  { matchLabels = {}, matchExpressions = [] }: Objects[number],
  { metadata }: Objects[number],
) {
  return (
    Object.entries(matchLabels).every(([key, value]) => metadata.labels[key] === value) &&
    matchExpressions.every(({ key, values }: Objects[number]) => values.includes(metadata.labels[key]))
  );
}

/** Whatever chooses pods takes those that it means, and no other. */
function assertChosen({
  postgresql,
  sqlite,
  migrate,
  move,
  restore,
  prometheus,
}: Readonly<Record<string, Objects>>) {
  const all = [postgresql, sqlite, migrate, move, restore].flatMap((each = []) => templatesOf(each));
  const chosenBy = (selector: Objects[number]) =>
    all.filter((template) => selects(selector, template)).map(({ spec }) => spec.containers[0].args[0]);
  const serving = ['serve', 'serve'];
  for (const objects of [postgresql ?? [], sqlite ?? []]) {
    assert.deepEqual(chosenBy({ matchLabels: of(objects, 'Service').spec.selector }), serving);
    assert.deepEqual(chosenBy(of(objects, 'NetworkPolicy').spec.podSelector), [
      ...serving,
      'migrate',
      'import',
    ]);
  }
  const [budget, monitor] = [of(postgresql ?? [], 'PodDisruptionBudget'), of(prometheus ?? [], 'PodMonitor')];
  for (const { spec } of [budget, monitor]) assert.deepEqual(chosenBy(spec.selector), serving);
  const [spread] = podOf(postgresql ?? []).spec.topologySpreadConstraints;
  assert.deepEqual(chosenBy(spread.labelSelector), serving);
  const [backup] = templatesOf((sqlite ?? []).filter(({ kind }) => kind === 'CronJob'));
  const [near] = backup.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution;
  assert.deepEqual(chosenBy(near.labelSelector), serving);
}

/** Of a pod that ends, too. */
const containersOf = ({ spec }: Objects[number]): Objects => [
  ...(spec.initContainers ?? []),
  ...spec.containers,
];

describe('deploy/kubernetes', { skip: noKustomize }, () => {
  const objects = Object.fromEntries(
    noKustomize ? [] : VARIANTS.map((variant) => [variant, rendered(variant)]),
  );
  const { postgresql = [], sqlite = [], migrate = [], move = [], restore = [], prometheus = [] } = objects;

  test('each variant has what the schemas of its kinds allow, with what is commented out, too', async () => {
    await using folder = await temporaryFolder();
    cpSync(FOLDER, folder.path, { recursive: true });
    let uncommented = 0;
    for (const file of globSync(join(folder.path, '*/*.yaml'))) {
      const text = read(file);
      // An indented comment that begins a member or an element, and what follows it further in.
      const all = text
        .replace(/^( +)# (?=(?: {2})*(?:- |env:|volume))/gm, '$1')
        .replace(/^( +)# ( +ports:)/gm, '$1$2');
      if (all !== text) uncommented += 1;
      writeFileSync(file, all);
    }
    assert.ok(uncommented >= 4);
    const all = VARIANTS.map((variant) => rendered(variant, folder.path));
    await checkManifests([...Object.values(objects), ...all].flat());
    // Every pod that reaches a server, an issuer or a database.
    const reaching = all
      .flatMap(templatesOf)
      .filter(({ spec }) => !/backup|restore/.test(spec.containers[0].args));
    assert.equal(reaching.length, 4);
    for (const template of reaching) {
      assert.ok(template.spec.volumes.some(({ configMap }: Objects[number]) => configMap?.name === 'ca'));
      for (const { env = [], volumeMounts } of containersOf(template)) {
        const { value } = env.find(({ name }: { name: string }) => name === 'NODE_EXTRA_CA_CERTS');
        const { mountPath } = volumeMounts.find(({ name }: { name: string }) => name === 'ca');
        assert.equal(value, `${mountPath}/ca.crt`);
      }
    }
  });

  test('every pod has the image of this version, no rights, and no variables of other services', () => {
    const templates = Object.values(objects).flatMap(templatesOf);
    assert.equal(templates.length, 6);
    for (const template of templates) {
      const { spec } = template;
      assert.equal(spec.enableServiceLinks, false);
      assert.equal(spec.securityContext.runAsUser, Number(/^USER (\d+)/m.exec(read('Containerfile'))?.[1]));
      for (const container of containersOf(template)) {
        assert.equal(container.image, `registry.example/todo-service:${manifest.version}`);
        const { readOnlyRootFilesystem, capabilities } = container.securityContext;
        assert.deepEqual([readOnlyRootFilesystem, capabilities], [true, { drop: ['ALL'] }]);
      }
    }
  });

  test('every container has arguments that there are', async () => {
    for (const { args } of Object.values(objects).flatMap(templatesOf).flatMap(containersOf)) {
      const [command, ...flags] = args;
      const { code, stdout } = await runCommand([command, '--help']);
      assert.equal(code, 0);
      for (const flag of flags) if (flag.startsWith('--')) assert.ok(stdout.includes(flag), flag);
    }
  });

  test('the variables are those that the service takes, and the ports follow from them', async () => {
    for (const [variant, engine] of [
      [postgresql, 'postgresql'],
      [sqlite, 'sqlite'],
    ] as const) {
      const config = await configOf(variant);
      const [{ ports }] = podOf(variant).spec.containers;
      assert.deepEqual(
        ports.map(({ containerPort }: { containerPort: number }) => containerPort),
        [5080, config.admin?.port],
      );
      assert.partialDeepStrictEqual(config.address, { host: '0.0.0.0', port: 5080 });
      assert.equal(config.admin?.host, '0.0.0.0');
      assert.equal(config.profile.name === 'shared-list' && config.profile.database.engine, engine);
      const { shutdownDelaySeconds, shutdownSeconds } = config;
      const longest = shutdownDelaySeconds + shutdownSeconds + 5;
      assert.ok(podOf(variant).spec.terminationGracePeriodSeconds > longest);
    }
  });

  test('a changed setting rolls out, and the name of the secret stays', () => {
    const { name } = of(postgresql, 'ConfigMap').metadata;
    assert.match(name, /^todo-service-\w+$/);
    const [{ envFrom, env }] = podOf(postgresql).spec.containers;
    assert.equal(envFrom[0].configMapRef.name, name);
    assert.equal(env[0].valueFrom.secretKeyRef.name, 'todo-service-database');
  });

  test('on PostgreSQL the Job alone migrates, with the database of the instances, and one is always there', () => {
    const [container] = podOf(postgresql).spec.containers;
    const { template } = of(migrate, 'Job').spec;
    const [migrating] = template.spec.containers;
    assert.deepEqual([container.args, migrating.args], [['serve', '--no-migrate'], ['migrate']]);
    assert.deepEqual(migrating.env, container.env);
    const { replicas, strategy } = of(postgresql, 'Deployment').spec;
    assert.equal(replicas, 2);
    assert.deepEqual(strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
    const { minAvailable, unhealthyPodEvictionPolicy } = of(postgresql, 'PodDisruptionBudget').spec;
    assert.deepEqual([minAvailable, unhealthyPodEvictionPolicy], [1, 'AlwaysAllow']);
  });

  test('on SQLite one pod has the file, and answers while it is not ready', () => {
    const { replicas, strategy, template } = of(sqlite, 'Deployment').spec;
    assert.deepEqual([replicas, strategy.type], [1, 'Recreate']);
    assert.equal(of(sqlite, 'Service').spec.publishNotReadyAddresses, true);
    assert.equal(of(postgresql, 'Service').spec.publishNotReadyAddresses, undefined);
    assert.equal(of(sqlite, 'PodDisruptionBudget'), undefined);
    assert.deepEqual(template.spec.containers[0].args, ['serve']);
    const [backup] = templatesOf(sqlite.filter(({ kind }) => kind === 'CronJob'));
    const [restoring] = templatesOf(restore);
    for (const { spec } of [backup, restoring]) {
      assert.deepEqual(spec.volumes, template.spec.volumes);
      assert.deepEqual(spec.containers[0].volumeMounts, template.spec.containers[0].volumeMounts);
      assert.equal(spec.securityContext.fsGroup, template.spec.securityContext.fsGroup);
    }
    // Else the volume would be waited for: it is attached to one node.
    const [{ topologyKey, labelSelector }] =
      backup.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution;
    assert.equal(topologyKey, 'kubernetes.io/hostname');
    assert.ok(selects(labelSelector, template));
    // No pod of the service is there.
    assert.equal(restoring.spec.affinity, undefined);
    assert.equal(of(restore, 'Job').spec.backoffLimit, 0);
    const [, file] = restoring.spec.containers[0].args;
    const [, folder, ...keep] = backup.spec.containers[0].args;
    assert.ok(file.startsWith(`${folder}/todos-`), file);
    assert.deepEqual(keep, ['--keep', '3']);
  });

  test('a Job that no repetition mends ends at once: another try of a backup that removed nothing would fill the volume', () => {
    for (const { spec } of [of(migrate, 'Job'), of(sqlite, 'CronJob').spec.jobTemplate]) {
      const { restartPolicy, containers } = spec.template.spec;
      const onExitCodes = { containerName: containers[0].name, operator: 'NotIn', values: [0, 69] };
      assert.deepEqual(spec.podFailurePolicy, { rules: [{ action: 'FailJob', onExitCodes }] });
      assert.equal(restartPolicy, 'Never');
    }
  });

  test('a move takes the database of the instances as the old one, another secret as the new one, and a folder between', () => {
    const { spec } = of(move, 'Job');
    const [exporting, importing] = containersOf(spec.template);
    assert.deepEqual(exporting.env, podOf(postgresql).spec.containers[0].env);
    assert.equal(importing.env[0].valueFrom.secretKeyRef.name, 'todo-service-database-new');
    assert.deepEqual([exporting.args[0], importing.args[0]], ['export', 'import']);
    assert.equal(exporting.args[1], importing.args[1]);
    assert.deepEqual(exporting.volumeMounts, importing.volumeMounts);
    assert.deepEqual(spec.template.spec.volumes, [{ name: 'move', emptyDir: {} }]);
    assert.deepEqual([spec.backoffLimit, spec.template.spec.restartPolicy], [0, 'Never']);
  });

  test('an overlay may change labels, names, namespace, image and number: whatever chooses pods still finds them', async () => {
    await using folder = await temporaryFolder();
    cpSync(FOLDER, folder.path, { recursive: true });
    const changed = Object.fromEntries(
      VARIANTS.map((variant) => {
        const own = join(folder.path, `own-${variant}`);
        mkdirSync(own);
        writeFileSync(
          join(own, 'kustomization.yaml'),
          `resources: [../${variant}]
labels: [{ pairs: { app: lists, team: blue }, includeSelectors: true }]
namePrefix: blue-
namespace: blue
images: [{ name: registry.example/todo-service, newName: registry.blue.example/todo, newTag: "9.9.9" }]
${variant === 'postgresql' ? 'replicas: [{ name: todo-service, count: 3 }]' : ''}
`,
        );
        return [variant, rendered(`own-${variant}`, folder.path)];
      }),
    );
    assertChosen(changed);
    const images = Object.values(changed).flatMap(templatesOf).flatMap(containersOf);
    assert.deepEqual(
      new Set(images.map(({ image }) => image)),
      new Set(['registry.blue.example/todo:9.9.9']),
    );
    assert.equal(of(changed.postgresql ?? [], 'Deployment').spec.replicas, 3);
    await checkManifests(Object.values(changed).flat() as never);
  });

  test('the service and the policies find the pods, and requests never go to a Job', () => {
    assertChosen({ postgresql, sqlite, migrate, move, restore, prometheus });
    const policy = of(postgresql, 'NetworkPolicy').spec;
    assert.deepEqual(
      policy.ingress.flatMap(({ ports }: { ports: Objects }) => ports.map(({ port }) => port)),
      ['http', 'admin'],
    );
  });

  test('each pod is under one policy of the network, and a backup or a restore reaches nobody', () => {
    const policies = sqlite.filter(({ kind }) => kind === 'NetworkPolicy').map(({ spec }) => spec);
    const reaching = [];
    for (const template of Object.values(objects).flatMap(templatesOf)) {
      const [policy, ...more] = policies.filter(({ podSelector }) => selects(podSelector, template));
      assert.deepEqual(policy.policyTypes, ['Ingress', 'Egress']);
      assert.deepEqual(more, []);
      if (policy.ingress || policy.egress) reaching.push(template.spec.containers[0].args[0]);
    }
    assert.deepEqual(reaching, ['serve', 'serve', 'migrate', 'import']);
  });

  test('probes and Prometheus ask paths that the admin listener answers, and no database restarts a pod', async () => {
    const demo = await startService({ profile: 'error-demo', env: { TODO_ADMIN_PORT: '0' } });
    after(() => demo[Symbol.asyncDispose]());
    const [{ startupProbe, livenessProbe, readinessProbe }] = podOf(postgresql).spec.containers;
    const { jobLabel, podMetricsEndpoints } = of(prometheus, 'PodMonitor').spec;
    const asked = [startupProbe, livenessProbe, readinessProbe].map(({ httpGet }) => httpGet);
    for (const { port, path } of [...asked, ...podMetricsEndpoints]) {
      assert.equal(port, 'admin');
      assert.equal((await fetch(demo.adminUrl + path)).status, 200);
    }
    assert.equal(livenessProbe.httpGet.path, '/live');
    assert.ok(
      read('deploy/alerts.yaml').includes(`up{job="${podOf(postgresql).metadata.labels[jobLabel]}"}`),
    );
  });

  test('lets a pod have more memory than the alert speaks of', () => {
    const alert = Number(
      /process_(?:memory_usage|resident_memory)_bytes\S* > (\d+)/.exec(read('deploy/alerts.yaml'))?.[1],
    );
    const [{ resources }] = podOf(postgresql).spec.containers;
    assert.ok(Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 2 ** 30 > alert);
  });
});
