// https://hono.dev/docs/getting-started/bun
import { todos } from './bun-sqlite.ts';
import { createApp } from './hono.ts';
import { host, port } from './settings.ts';

const app = await createApp(todos);
Bun.serve({ fetch: app.fetch, port, hostname: host });
