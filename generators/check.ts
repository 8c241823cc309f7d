/**
 * `npm run generators`: what generators that people use make of the OpenAPI documents compiles strictly and works
 * against the service; Postman's converter takes the documents, and Spectral finds nothing but what is right. The
 * manifests for Kubernetes and Compose are what the schemas of these allow.
 */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';
import { build } from 'esbuild';
import converter from 'openapi-to-postmanv2';
import openapiTS, { astToString } from 'openapi-typescript';
import { generate as orval } from 'orval';
import { signer } from '../conformance/src/sign.ts';
import { startService } from '../test/start.ts';
import { run } from '../tools/command.ts';
import { writeManifests } from './manifests.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const auth = { issuer: 'https://issuer.example', audience: 'todo-service', secret: randomBytes(64) };
const sign = signer(auth);

await using list = await startService({ profile: 'shared-list', environment: 'production', auth });
await using demo = await startService({ profile: 'error-demo', environment: 'production' });
for (const [profile, baseUrl, requests] of [
  ['shared-list', 'listUrl', 6],
  ['error-demo', 'demoUrl', 3],
] as const) {
  const file = here(`../src/openapi/${profile}.v1.json`);
  const text = await readFile(file, 'utf8');
  await generateAll(file, text, here(`made/${profile}`), baseUrl);
  assert.equal(await postmanRequests(text), requests);
  // The endpoint that always fails lists no success, as its description says.
  const right = profile === 'error-demo' ? ['operation-success-response at paths./crash.get.responses'] : [];
  assert.deepEqual(await lint(file, text), right);
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

/** Writes what each generator makes of a document into a folder of its own. `baseUrl` is what `service.ts` calls the address. */
async function generateAll(
  input: string,
  text: string,
  folder: string,
  baseUrl: 'listUrl' | 'demoUrl',
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  await writeFile(join(folder, 'openapi-typescript.ts'), astToString(await openapiTS(text)));
  await createClient({
    input,
    output: join(folder, 'hey-api'),
    plugins: ['@hey-api/client-fetch', '@hey-api/typescript', '@hey-api/sdk', 'zod'],
    logs: { level: 'silent' },
  });
  await orval({
    input,
    output: {
      target: join(folder, 'orval.ts'),
      client: 'fetch',
      mode: 'single',
      baseUrl: { runtime: baseUrl, imports: [{ name: baseUrl, importPath: '../../service.ts' }] },
    },
  });
}

/** What Spectral's rules for OpenAPI find in a document: `rule at path`. */
async function lint(file: string, text: string): Promise<readonly string[]> {
  const linter = new spectral.Spectral();
  // Spectral's own declaration of its rules is not what its linter declares to take.
  const oas: RulesetDefinition = Object.assign({ extends: [] }, rulesets.oas);
  linter.setRuleset({ extends: [[oas, 'recommended']] });
  const found = await linter.run(new spectral.Document(text, parsers.Json, file));
  return found.map(({ code, path }) => `${code} at ${path.join('.')}`);
}

interface Item {
  readonly item?: readonly Item[];
  readonly request?: { readonly method: string };
}

interface Conversion {
  readonly output?: readonly { readonly data: Item }[];
}

/** How many requests the collection has that Postman's own converter makes of a document. */
async function postmanRequests(data: string): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<Item>();
  converter.convert({ type: 'string', data }, {}, (error, result) => {
    const collection = (result as Conversion | undefined)?.output?.[0]?.data;
    if (collection === undefined) reject(error ?? new Error('Postman could not convert it'));
    else resolve(collection);
  });
  return requestsIn(await promise);
}

function requestsIn({ item = [], request }: Item): number {
  return item.reduce((sum, each) => sum + requestsIn(each), request === undefined ? 0 : 1);
}
