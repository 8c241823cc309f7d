import assert from 'node:assert/strict';
import { test } from 'node:test';
import { header, json } from '../http.ts';
import { type OpenApi, operationsOf } from '../open-api.ts';
import { byLaw, holdsToContract, it } from '../problem.ts';
import { exchangesOf, expecting, send, type Target } from '../target.ts';
import { ALLOWED } from './routes.ts';

const documentPath = '/openapi/v1.json';
const pagePath = '/scalar';

/** The paths of the specification. */
const SPECIFIED = {
  'shared-list': ['/me', '/todos', '/todos/{id}'],
  'error-demo': ['/crash', '/todos/{id}', '/todos/{id}/complete'],
} as const;

/** Contract What the service does 6; Development-only endpoints; Versioning 1; D3; R8. */
export function development(target: Target, environment: 'development' | 'production'): void {
  const { fails, succeeds } = expecting(target);
  if (environment === 'production') {
    test('neither the document nor the page is served outside development [D3; What the service does 6]', async () => {
      for (const path of [
        ...[documentPath, pagePath, `${pagePath}/`, `${pagePath}/api-reference.js`, `${pagePath}/icon.svg`],
        ...['/openapi', '/scalar/v1', '/docs', '/swagger'],
      ]) {
        for (const method of ['GET', 'POST']) await fails(404, `${method} ${path}`);
      }
    });
    return;
  }

  test('the OpenAPI document v1 is served without a token, and has the paths of the profile [D3; Versioning 1; What the service does 6]', async () => {
    const reply = await succeeds(200, `GET ${documentPath}`);
    const { openapi, paths } = json(reply) as OpenApi;
    for (const path of SPECIFIED[target.profile]) assert.ok(path in paths, path);
    assert.match(openapi, byLaw(/^3\.1\.\d+$/, /^3\./));
    if (!holdsToContract()) return;
    assert.match(header(reply, 'content-type') ?? '', /^application\/json(?:; ?charset=utf-8)?$/);
    assert.deepEqual(Object.keys(paths).sort(), Object.keys(ALLOWED[target.profile]).sort());
  });

  it('only v1 is a document [D3]', async () => {
    const others = ['', '/', '/v2.json', '/v1', '/v1.yaml', '.json'];
    for (const other of others) await fails(404, `GET /openapi${other}`);
    await fails(405, `POST ${documentPath}`, {}, { headers: { allow: 'GET, HEAD' } });
  });

  it('integers are integers in the document, never also strings [D3]', async () => {
    const document = json(await send(target, `GET ${documentPath}`));
    const schemas = schemasNamed(document, new Set(['id', 'categoryId', 'status']));
    assert.notEqual(schemas.length, 0);
    for (const schema of schemas) assert.equal(typeOf(document, schema), 'integer', JSON.stringify(schema));
  });

  it('generators of other languages can use the document [D3]', async () => {
    const document = json(await send(target, `GET ${documentPath}`)) as OpenApi;
    assert.match(document.info.version, /^\d+\.\d+\.\d+$/);
    for (const [name, value] of membersIn(document)) {
      if (name === 'const') assert.notEqual(typeof value, 'boolean');
      if (name === 'pattern') assert.doesNotMatch(String(value), /\\[pP]|\(\?<?[=!]/);
      assert.ok(!['allOf', 'anyOf', 'oneOf'].includes(name), name);
    }
    const contents = membersIn(document).filter(([name]) => name === 'content');
    for (const { schema } of contents.flatMap(([, content]) => Object.values(content as Content)))
      assert.match(String(schema.$ref ?? schema.items?.$ref), /^#\/components\/schemas\//);
  });

  it('the reference page and all it loads come from the service itself [D3]', async () => {
    const page = await send(target, `GET ${pagePath}`, { accept: 'text/html' });
    const moved = header(page, 'location');
    const reply =
      moved === undefined ? page : await send(target, `GET ${new URL(moved, 'http://x/scalar').pathname}`);
    assert.equal(reply.status, 200);
    assert.match(header(reply, 'content-type') ?? '', /^text\/html\b/);
    const loaded = [
      ...reply.body.toString().matchAll(/<(?:script|link|img|iframe)\b[^>]*?\b(?:src|href)="([^"]+)"/g),
    ];
    assert.notEqual(loaded.length, 0);
    for (const [, address = ''] of loaded) {
      const { origin, pathname } = new URL(address, new URL(moved ?? pagePath, target.baseUrl));
      assert.equal(origin, target.baseUrl.origin, address);
      await succeeds(200, `GET ${pathname}`, {}, address);
    }
  });

  if (target.profile === 'shared-list') {
    it('the document names the policy CanWriteTodos and asks for a bearer token [A11]', async () => {
      const text = (await send(target, `GET ${documentPath}`)).body.toString();
      assert.match(text, /CanWriteTodos/);
      const { components, paths } = JSON.parse(text) as OpenApi;
      const schemes = Object.values(components.securitySchemes ?? {});
      assert.ok(schemes.some(({ type, scheme }) => type === 'http' && scheme.toLowerCase() === 'bearer'));
      for (const operation of Object.values(paths).flatMap(operationsOf))
        assert.ok('401' in operation.responses);
    });
  } else {
    test('the document lists 200, 404 and 409 for complete, 409 as Problem Details [Development-only endpoints]', async () => {
      const { paths } = json(await send(target, `GET ${documentPath}`)) as OpenApi;
      const responses = paths['/todos/{id}/complete']?.post?.responses ?? {};
      for (const status of ['200', '404', '409']) assert.ok(status in responses, status);
      assert.ok('application/problem+json' in (responses['409']?.content ?? {}));
    });
  }

  const { assertDescribed } = target;
  if (assertDescribed === undefined) test.skip('every response is one of the document [D3]');
  else {
    it('every response seen by these tests is one that the document describes [D3]', async () => {
      const document = json(await send(target, `GET ${documentPath}`)) as OpenApi;
      assertDescribed(document, exchangesOf(target));
    });
  }
}

/** The `type` of a schema, or of the one that it refers to. */
function typeOf(document: unknown, schema: unknown): unknown {
  const { type, $ref } = schema as { readonly type?: unknown; readonly $ref?: string };
  if ($ref === undefined) return type;
  const names = $ref.split('/').slice(1);
  return typeOf(
    document,
    names.reduce((value, name) => (value as Record<string, unknown>)[name], document),
  );
}

type Content = Readonly<Record<string, { readonly schema: Reference & { readonly items?: Reference } }>>;

interface Reference {
  readonly $ref?: string;
}

function membersIn(value: unknown): readonly (readonly [name: string, value: unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap((member) => [member, ...membersIn(member[1])]);
}

/** The schemas of properties and parameters with these names, anywhere in the document. */
function schemasNamed(value: unknown, names: ReadonlySet<string>): unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = 'properties' in value ? Object.entries(value.properties ?? {}) : [];
  const parameter =
    'in' in value && 'name' in value && 'schema' in value
      ? [[String(value.name), value.schema] as const]
      : [];
  const found = [...own, ...parameter].filter(([name]) => names.has(name)).map(([, schema]) => schema);
  return [...found, ...Object.values(value).flatMap((inner) => schemasNamed(inner, names))];
}
