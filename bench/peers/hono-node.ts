// https://hono.dev/docs/getting-started/nodejs
import { serve } from '@hono/node-server';
import { todos } from './better-sqlite3.ts';
import { createApp } from './hono.ts';
import { host, port } from './settings.ts';

const app = await createApp(todos);
serve({ fetch: app.fetch, port, hostname: host });
