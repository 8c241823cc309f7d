import { createRequire } from 'node:module';
import type { LogEvent } from '../events.ts';
import { type Answer, JSON_UTF_8 } from '../http/answer.ts';
import { openRoute, type Route } from '../http/route.ts';
import { isCarried, readCarried } from '../lib/assets.ts';
import { orUndefined } from '../lib/errors.ts';
import { type Documented, readDocument } from '../openapi/documents.ts';

/** Contract Versioning 1. */
const DOCUMENT_PATH = '/openapi/v1.json';

/** The routes of a profile's OpenAPI document and, where its package is there, of the reference page (contract D3). */
export function documentRoutes(profile: Documented, logEvent: LogEvent): readonly Route[] {
  const document = openRoute(DOCUMENT_PATH, () => file(JSON_UTF_8, readDocument(profile)));
  if (!isScalarInstalled()) {
    logEvent({ event: 'no-reference-page' });
    return [document];
  }
  let script: Promise<Buffer> | undefined;
  return [
    document,
    openRoute(PAGE_PATH, () => {
      const page = referencePage(readDocument(profile), SERVED);
      return file('text/html; charset=utf-8', page, { 'content-security-policy': PAGE_POLICY });
    }),
    openRoute(ICON_PATH, () => file('image/svg+xml', ICON)),
    openRoute(SCRIPT_PATH, async () => {
      script ??= readScalarScript();
      return file('text/javascript; charset=utf-8', await script);
    }),
  ];
}

function file(type: string, body: string | Buffer, headers: Answer['headers'] = {}): Answer {
  return { status: 200, headers: { ...headers, 'cache-control': 'no-cache', 'content-type': type }, body };
}

/** The folder of the page's parts, all served by this service. */
export const PAGE_PATH = '/scalar';
const SCRIPT_PATH = `${PAGE_PATH}/api-reference.js`;
const ICON_PATH = `${PAGE_PATH}/icon.svg`;

/** Features that call other hosts, or offer to, are off. The policy below bars any that a setting overlooks. */
const CONFIGURATION = {
  withDefaultFonts: false,
  proxyUrl: '',
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  showDeveloperTools: 'never',
  hideClientButton: true,
  persistAuth: false,
  defaultOpenAllTags: true,
  orderSchemaPropertiesBy: 'preserve',
  authentication: { preferredSecurityScheme: 'bearer' },
  // Scalar's own have a contrast of 2.9 to 4.3 to its backgrounds: WCAG 2.2 §1.4.3 asks for 4.5.
  customCss: `
    .light-mode {
      --scalar-color-2: #5c5c5c; --scalar-color-3: #636363; --scalar-color-green: #006f46;
      --scalar-color-blue: #0067ab; --scalar-color-orange: #ad3a00; --scalar-color-red: #c70000;
    }
    .dark-mode { --scalar-color-3: #949494; --scalar-color-red: #ff5c5c; }`,
};

/** Styles are inline because the script makes them; scripts never are. */
const PAGE_POLICY = [
  "default-src 'self'",
  "connect-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const SERVED = { document: DOCUMENT_PATH, script: SCRIPT_PATH, icon: ICON_PATH };

/** The page over an OpenAPI document, whose title it has. @param more Settings of Scalar beside our own. */
export function referencePage(
  text: string,
  { document, script, icon }: typeof SERVED,
  more: object = {},
): string {
  const { info }: { readonly info: { readonly title: string } } = JSON.parse(text);
  const configuration = JSON.stringify({ url: document, ...CONFIGURATION, ...more });
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${info.title}</title>
    <link rel="icon" type="image/svg+xml" href="${icon}">
  </head>
  <body>
    <noscript>This page needs JavaScript. The OpenAPI document is at <a href="${document}">${document}</a>.</noscript>
    <script id="api-reference" data-configuration="${configuration.replaceAll('"', '&quot;')}" src="${script}"></script>
  </body>
</html>
`;
}

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b7a4b"/><path d="m3.5 8.5 3 3 6-7" fill="none" stroke="#fff" stroke-width="2"/></svg>\n`;

/** A route that the plugin of Scalar's package asks a server to serve. */
interface ServedRoute {
  readonly url: string;
  handler(request: undefined, reply: { header(): unknown; send(script: string): void }): void;
}

const require = createRequire(import.meta.url);

const PACKAGE = '@scalar/fastify-api-reference';

/** The script in the single executable. */
export const CARRIED_SCRIPT = 'scalar.js';

/** Whether the script is there: its package is an optional peer, and the executable carries it. */
export function isScalarInstalled(): boolean {
  return isCarried(CARRIED_SCRIPT) || orUndefined(() => require.resolve(PACKAGE)) !== undefined;
}

/** Scalar's script, 4 MB. Its package gives it only to a server, so its plugin gets one that notes the routes. */
export async function readScalarScript(): Promise<Buffer> {
  if (isCarried(CARRIED_SCRIPT)) return readCarried(CARRIED_SCRIPT);
  const { default: scalar } = await import('@scalar/fastify-api-reference');
  const plugin: (server: object, options: object, done: () => void) => unknown = scalar;
  const routes: ServedRoute[] = [];
  plugin(
    { route: (route: ServedRoute) => routes.push(route) },
    { routePrefix: '/', configuration: { url: '/' } },
    () => {},
  );
  let script = '';
  const reply = {
    header: () => reply,
    send(text: string) {
      script = text;
    },
  };
  routes.find(({ url }) => url === '/js/scalar.js')?.handler(undefined, reply);
  if (script === '') throw new Error('Cannot show the reference page: its package gives no script');
  return Buffer.from(script);
}
