/**
 * `npm run generators`: what generators that people use make of the OpenAPI documents compiles strictly and works
 * against the service; Postman's converter takes the documents, and Spectral finds nothing but what is right. The
 * manifests for Kubernetes and Compose are what the schemas of these allow.
 */
import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { signer } from '../conformance/src/sign.ts';
import { startService } from '../test/start.ts';
import { run } from '../tools/command.ts';
import { generateAll } from './generate.ts';
import { lint } from './lint.ts';
import { writeManifests } from './manifests.ts';
import { toPostman } from './postman.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
const sign = signer(auth);

await using list = await startService({ profile: 'shared-list', environment: 'production', auth });
await using demo = await startService({ profile: 'error-demo', environment: 'production' });
for (const [profile, baseUrl, requests] of [
  ['shared-list', 'listUrl', 6],
  ['error-demo', 'demoUrl', 3],
] as const) {
  const document = new URL(`../src/openapi/${profile}.v1.json`, import.meta.url);
  await generateAll(document, here(`made/${profile}`), baseUrl);
  await toPostman(document, requests);
  await lint(
    document,
    profile === 'error-demo' ? ['operation-success-response at paths./crash.get.responses'] : [],
  );
}
process.stdout.write('Postman, Spectral: right\n');
const manifests = new URL('made/manifests.ts', import.meta.url);
await writeManifests(new URL('../docs/kubernetes.yaml', import.meta.url), manifests);

run(here('node_modules/.bin/tsc'), '--project', here('.'));
run(process.execPath, fileURLToPath(manifests));
run(process.execPath, here('node_modules/.bin/dclint'), '--quiet', here('../docs/compose.yaml'));
process.stdout.write('Kubernetes, Compose: right\n');

const program = here('made/uses.mjs');
await build({
  entryPoints: [here('uses/main.ts')],
  outfile: program,
  bundle: true,
  platform: 'node',
  format: 'esm',
  logLevel: 'warning',
});
Object.assign(process.env, {
  TODO_LIST_URL: list.baseUrl,
  TODO_DEMO_URL: demo.baseUrl,
  TODO_EDITOR: sign({ name: 'Ada', role: 'editor' }),
  TODO_READER: sign({ name: 'Bob' }),
});
run(process.execPath, program);
