/**
 * `npm run openapi`: writes the OpenAPI documents as development serves them into `src/openapi/`, which the package and
 * the command `openapi` hand out. A test fails when they are no longer the same.
 */
import { writeFile } from 'node:fs/promises';
import { startService } from '../test/start.ts';

for (const profile of ['shared-list', 'error-demo'] as const) {
  await using service = await startService({ profile, environment: 'development' });
  const reply = await fetch(`${service.baseUrl}/openapi/v1.json`);
  const file = new URL(`../src/openapi/${profile}.v1.json`, import.meta.url);
  await writeFile(file, Buffer.from(await reply.arrayBuffer()));
}
