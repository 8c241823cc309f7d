/** Objects of manifests for Kubernetes, as the schemas of its API and of the Prometheus Operator have them. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Document, parseAllDocuments } from 'yaml';
import { run } from '../../tools/command.ts';

export const FOLDER = 'deploy/kubernetes';

/** `go install` puts it there. */
const env = { ...process.env, PATH: `${process.env.PATH}:${join(homedir(), 'go/bin')}` };
const found = spawnSync('kustomize', ['version'], { env }).status === 0;
export const noKustomize = !found && 'needs kustomize: go install sigs.k8s.io/kustomize/kustomize/v5@v5.7.1';

/** What kustomize writes: a test holds it to the schemas of its kinds. */
export type Objects = readonly ReturnType<Document['toJS']>[];

export function rendered(variant: string, folder = FOLDER): Objects {
  const yaml = execFileSync('kustomize', ['build', join(folder, variant)], { env, encoding: 'utf8' });
  return parseAllDocuments(yaml).map((document) => document.toJS());
}

/** Where each kind's type and schema are. */
const PACKAGES: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
}

/**
 * @throws Error when an object has a member or a type that its kind has not, which the compiler finds, or a value that does
 *   not fit the schema.
 */
export async function checkManifests(manifests: readonly Manifest[]): Promise<void> {
  const parts = manifests.map((manifest, index) => {
    const { apiVersion, kind } = manifest;
    const [group = ''] = apiVersion.split('/');
    const from = `${PACKAGES[group] ?? 'kubernetes-models/'}${apiVersion}`;
    return `import { type I${kind} as I${index}, ${kind} as K${index} } from '${from}';
const o${index}: I${index} = ${JSON.stringify(manifest, undefined, 2)};
new K${index}(o${index}).validate();
`;
  });
  // Below the project, whose packages it imports.
  const folder = fileURLToPath(new URL('../../build/manifests/', import.meta.url));
  const program = join(folder, 'check.ts');
  await mkdir(folder, { recursive: true });
  await writeFile(program, parts.join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'preserve', '--target', 'es2024'];
  run(
    fileURLToPath(new URL('../../node_modules/.bin/tsc', import.meta.url)),
    '--ignoreConfig',
    ...options,
    program,
  );
  run(process.execPath, program);
}
