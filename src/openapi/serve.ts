import type { FastifyInstance, FastifyReply, FastifySchema, RouteOptions } from 'fastify';
import * as errorDemo from '../error-demo/document.ts';
import { sendJson } from '../http/message/json-reply.ts';
import { READ } from '../http/message/match.ts';
import { withoutBody } from '../http/message/with-body.ts';
import * as sharedList from '../shared-list/document.ts';
import { composeDocument, type DescribedRoute } from './compose.ts';
import type { Operation } from './operation.ts';
import {
  ICON,
  ICON_PATH,
  PAGE_PATH,
  PAGE_POLICY,
  readScalarScript,
  referencePage,
  SCRIPT_PATH,
} from './page.ts';

const OVERVIEWS = { 'shared-list': sharedList.overview, 'error-demo': errorDemo.overview };

/** Specification, Versioning 1. */
const DOCUMENT_PATH = '/openapi/v1.json';

/**
 * Serves the OpenAPI document of the routes that are added from now on, and the reference page (contract D3), on
 * ordinary routes: the rules for `HEAD`, 404 and 405 hold for them too.
 */
export async function serveDocument(app: FastifyInstance, profile: keyof typeof OVERVIEWS): Promise<void> {
  const overview = OVERVIEWS[profile];
  const routes: DescribedRoute[] = [];
  app.addHook('onRoute', (route) => {
    routes.push(...describedRoutes(route));
  });

  serve(app, DOCUMENT_PATH, (reply) => sendJson(reply, composeDocument(overview, routes)));

  const page = referencePage(overview.title, DOCUMENT_PATH);
  serve(app, PAGE_PATH, (reply) =>
    reply.header('Content-Security-Policy', PAGE_POLICY).type('text/html; charset=utf-8').send(page),
  );
  serve(app, ICON_PATH, (reply) => reply.type('image/svg+xml').send(ICON));

  let script: Promise<Buffer> | undefined;
  serve(app, SCRIPT_PATH, async (reply) => {
    script ??= readScalarScript();
    return reply.type('text/javascript; charset=utf-8').send(await script);
  });
}

function serve(
  app: FastifyInstance,
  url: string,
  answer: (reply: FastifyReply) => FastifyReply | Promise<FastifyReply>,
): void {
  app.route({
    method: READ,
    url,
    config: { access: 'open' },
    handler: withoutBody((_request, reply) => answer(reply)),
  });
}

/** One for each method of a route that says what it does. `HEAD` is no operation of its own. */
function describedRoutes({ method, url, config, schema }: RouteOptions): DescribedRoute[] {
  if (config === undefined || !isOperation(schema)) return [];
  return [method]
    .flat()
    .filter((name) => name !== 'HEAD')
    .map((name) => ({ method: name, url, access: config.access, operation: schema }));
}

function isOperation(schema: FastifySchema | undefined): schema is Operation {
  return schema?.operationId !== undefined;
}
