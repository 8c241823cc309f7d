import type { FastifyInstance } from 'fastify';

export async function serveDocument(
  _app: FastifyInstance,
  _profile: 'shared-list' | 'error-demo',
): Promise<void> {}
