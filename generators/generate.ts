import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';
import openapiTS, { astToString } from 'openapi-typescript';
import { generate as orval } from 'orval';

/**
 * Writes what each generator makes of a document into a folder of its own.
 *
 * @param baseUrl what `service.ts` calls the address of the service.
 */
export async function generateAll(
  document: URL,
  folder: string,
  baseUrl: 'listUrl' | 'demoUrl',
): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const input = fileURLToPath(document);

  const types = await openapiTS(await readFile(document, 'utf8'));
  await writeFile(join(folder, 'openapi-typescript.ts'), astToString(types));

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
