import type { Tell } from '../events.ts';
import { type Answer, JSON_UTF_8 } from '../http/message/answer.ts';
import type { Route } from '../http/message/routes.ts';
import { type Documented, readDocument } from './documents.ts';
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

/** Specification, Versioning 1. */
const DOCUMENT_PATH = '/openapi/v1.json';

/**
 * The routes of the OpenAPI document of a profile and of the reference page (contract D3). Without the package of the page
 * there is a line in the log, and no page.
 */
export function documentRoutes(profile: Documented, tell: Tell): readonly Route[] {
  const document = serve(DOCUMENT_PATH, () => file(JSON_UTF_8, readDocument(profile)));
  if (!isScalarInstalled()) {
    tell({ event: 'no-reference-page' });
    return [document];
  }
  let script: Promise<Buffer> | undefined;
  return [
    document,
    serve(PAGE_PATH, () => {
      const { info }: { readonly info: { readonly title: string } } = JSON.parse(readDocument(profile));
      const page = referencePage(info.title, DOCUMENT_PATH);
      return file('text/html; charset=utf-8', page, { 'content-security-policy': PAGE_POLICY });
    }),
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
