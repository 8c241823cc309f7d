import { useHeyApi } from './hey-api.ts';
import { useOpenapiFetch } from './openapi-fetch.ts';
import { useOrval } from './orval.ts';
import { useZod } from './zod.ts';

const uses = {
  'openapi-typescript, openapi-fetch': useOpenapiFetch,
  '@hey-api/openapi-ts': useHeyApi,
  orval: useOrval,
  zod: useZod,
};
for (const [name, use] of Object.entries(uses)) {
  await use();
  process.stdout.write(`${name}: right\n`);
}
