import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { type Document, parseAllDocuments } from 'yaml';
import manifest from '../../package.json' with { type: 'json' };
import { readConfig } from '../../src/config.ts';
import { VARIABLES } from '../../src/settings.ts';
import { temporaryFolder } from '../folder.ts';
import { runProgram, startService } from '../start.ts';
import { checkManifests } from './manifests.ts';

const FOLDER = 'docs/kubernetes';
const VARIANTS = ['postgresql', 'sqlite', 'migrate', 'prometheus'] as const;

/** `go install` puts it there. */
const env = { ...process.env, PATH: `${process.env.PATH}:${join(homedir(), 'go/bin')}` };
const found = spawnSync('kustomize', ['version'], { env }).status === 0;
const skip = !found && 'needs kustomize: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1';

/** What kustomize writes: a test holds it to the schemas of its kinds. */
type Objects = readonly ReturnType<Document['toJS']>[];

function rendered(variant: string, folder = FOLDER): Objects {
  const yaml = execFileSync('kustomize', ['build', join(folder, variant)], { env, encoding: 'utf8' });
  return parseAllDocuments(yaml).map((document) => document.toJS());
}

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

describe('docs/kubernetes', { skip }, () => {
  const objects = Object.fromEntries(found ? VARIANTS.map((variant) => [variant, rendered(variant)]) : []);
  const { postgresql = [], sqlite = [], migrate = [], prometheus = [] } = objects;

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
    assert.ok(uncommented >= 2);
    const all = VARIANTS.flatMap((variant) => rendered(variant, folder.path));
    await checkManifests([...Object.values(objects).flat(), ...all]);
  });

  test('every pod has the image of this version, no rights, and no variables of other services', () => {
    const templates = Object.values(objects).flatMap(templatesOf);
    assert.equal(templates.length, 4);
    for (const { spec } of templates) {
      const [container] = spec.containers;
      assert.equal(container.image, `registry.example/todo-service:${manifest.version}`);
      assert.equal(spec.enableServiceLinks, false);
      assert.equal(spec.securityContext.runAsUser, Number(/^USER (\d+)/m.exec(read('Containerfile'))?.[1]));
      const { readOnlyRootFilesystem, capabilities } = container.securityContext;
      assert.deepEqual([readOnlyRootFilesystem, capabilities], [true, { drop: ['ALL'] }]);
    }
  });

  test('every container has arguments that there are', async () => {
    for (const { spec } of Object.values(objects).flatMap(templatesOf)) {
      const [command, ...flags] = spec.containers[0].args;
      const { code, stdout } = await runProgram([command, '--help']);
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
        [config.port, config.admin?.port],
      );
      assert.deepEqual([config.host, config.admin?.host], ['0.0.0.0', '0.0.0.0']);
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
    const { podFailurePolicy, template } = of(migrate, 'Job').spec;
    const [migrating] = template.spec.containers;
    assert.deepEqual([container.args, migrating.args], [['serve', '--no-migrate'], ['migrate']]);
    assert.deepEqual(migrating.env, container.env);
    assert.equal(template.spec.restartPolicy, 'Never');
    const [{ action, onExitCodes }] = podFailurePolicy.rules;
    assert.deepEqual([action, onExitCodes.operator, onExitCodes.values], ['FailJob', 'NotIn', [0, 69]]);
    assert.equal(onExitCodes.containerName, migrating.name);
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
    assert.deepEqual(backup.spec.volumes, template.spec.volumes);
    assert.equal(backup.spec.securityContext.fsGroup, template.spec.securityContext.fsGroup);
  });

  test('the service and the policies find the pods, and requests never go to a Job', () => {
    const { labels } = podOf(postgresql).metadata;
    for (const selector of [
      of(prometheus, 'PodMonitor').spec.selector.matchLabels,
      of(postgresql, 'PodDisruptionBudget').spec.selector.matchLabels,
      of(postgresql, 'Service').spec.selector,
    ])
      assert.deepEqual(selector, labels);
    const apps = [...templatesOf(sqlite), ...templatesOf(migrate)].map(({ metadata }) => metadata.labels.app);
    assert.equal(new Set(apps).size, 3);
    const policy = of(postgresql, 'NetworkPolicy').spec;
    assert.deepEqual(policy.podSelector.matchExpressions[0].values, [apps[0], apps[2]]);
    assert.deepEqual(
      policy.ingress.flatMap(({ ports }: { ports: Objects }) => ports.map(({ port }) => port)),
      ['http', 'admin'],
    );
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
    assert.ok(read('docs/alerts.yaml').includes(`up{job="${podOf(postgresql).metadata.labels[jobLabel]}"}`));
  });

  test('lets a pod have more memory than the alert speaks of', () => {
    const alert = Number(
      /process_(?:memory_usage|resident_memory)_bytes\S* > (\d+)/.exec(read('docs/alerts.yaml'))?.[1],
    );
    const [{ resources }] = podOf(postgresql).spec.containers;
    assert.ok(Number(/^(\d+)Gi$/.exec(resources.limits.memory)?.[1]) * 2 ** 30 > alert);
  });
});
