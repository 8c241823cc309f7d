import type { Logger } from 'pino';
import * as errorDemo from '../error-demo/document.ts';
import { type Answer, json } from '../http/message/answer.ts';
import type { Route } from '../http/message/routes.ts';
import * as sharedList from '../shared-list/document.ts';
import { composeDocument } from './compose.ts';
import {
  ICON,
  ICON_PATH,
  isScalarInstalled,
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
 * The routes of the OpenAPI document of `routes` and of the reference page (contract D3). Without the package of the page
 * there is a line in the log, and no page.
 */
export function documentRoutes(
  profile: keyof typeof OVERVIEWS,
  routes: readonly Route[],
  log: Logger,
): readonly Route[] {
  const overview = OVERVIEWS[profile];
  const document = serve(DOCUMENT_PATH, () => json(composeDocument(overview, routes)));
  if (!isScalarInstalled()) {
    log.warn(
      { event: 'no-reference-page' },
      'there is no reference page: install @scalar/fastify-api-reference',
    );
    return [document];
  }
  const page = referencePage(overview.title, DOCUMENT_PATH);
  let script: Promise<Buffer> | undefined;
  return [
    document,
    serve(PAGE_PATH, () =>
      file('text/html; charset=utf-8', page, { 'content-security-policy': PAGE_POLICY }),
    ),
    serve(ICON_PATH, () => file('image/svg+xml', ICON)),
    serve(SCRIPT_PATH, async () => {
      script ??= readScalarScript();
      return file('text/javascript; charset=utf-8', await script);
    }),
  ];
}

function serve(path: string, handle: Route['handle']): Route {
  return { method: 'GET', path, access: 'open', handle };
}

function file(type: string, body: string | Buffer, headers: Answer['headers'] = {}): Answer {
  return { status: 200, headers: { ...headers, 'content-type': type }, body };
}
