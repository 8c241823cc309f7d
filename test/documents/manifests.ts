/** Objects of manifests for Kubernetes, as the schemas of its API and of the Prometheus Operator have them. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../../tools/command.ts';

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
