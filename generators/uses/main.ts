import { reader } from '../service.ts';
import { use } from './client.ts';
import { heyApi } from './hey-api.ts';
import { openapiFetch } from './openapi-fetch.ts';
import { orval } from './orval.ts';
import { useZod } from './zod.ts';

const clients = { 'openapi-typescript, openapi-fetch': openapiFetch, '@hey-api/openapi-ts': heyApi, orval };
for (const [name, client] of Object.entries(clients)) {
  await use(client, reader);
  process.stdout.write(`${name}: right\n`);
}
await useZod();
process.stdout.write('zod: right\n');
