import type { Problem } from '../../src/http/problem.ts';

/** The parts of the service's OpenAPI document that the tests read. */
export interface OpenApiDocument {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly securitySchemes?: Readonly<Record<string, { readonly description: string }>>;
  };
}

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly maxLength?: number;
  readonly maximum?: number;
  readonly const?: string;
  readonly examples?: readonly unknown[];
}

export interface Response {
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

interface Header {
  readonly required?: boolean;
  readonly schema: Schema;
  readonly example?: string;
}

interface MediaType {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: Problem & { readonly traceId: string } }>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'path';
  readonly schema: { readonly pattern?: string };
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly description: string;
  readonly security: unknown;
  readonly 'x-policy'?: string;
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly example?: unknown }>> };
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, Response>>;
}

/** The document of this text, in which what is referred to stands in place of each reference. */
export function parseDocument(text: string): OpenApiDocument {
  const document: OpenApiDocument = JSON.parse(text);
  return dereferenced(document, document) as OpenApiDocument;
}

function dereferenced(value: unknown, document: OpenApiDocument): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => dereferenced(item, document));
  if ('$ref' in value) return dereferenced(valueAt(document, String(value.$ref).slice(1)), document);
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, dereferenced(inner, document)]),
  );
}

/** The value at a JSON Pointer (RFC 6901), or undefined. */
export function valueAt(document: unknown, pointer: string): unknown {
  const names = pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  return names.reduce<unknown>((value, name) => {
    const found = typeof value === 'object' && value !== null && Object.hasOwn(value, name);
    return found ? (value as Record<string, unknown>)[name] : undefined;
  }, document);
}

/** Each operation by its name, for example `GET /todos/{id}`. */
export function operationsOf({ paths }: OpenApiDocument): Record<string, Operation> {
  const named = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item)
      .filter(([member]) => member !== 'parameters')
      .map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation as Operation] as const),
  );
  return Object.fromEntries(named);
}

/**
 * The request that a tool makes of the examples of an operation: an example of each parameter and of the body. What has none
 * is in `without`, and is not sent.
 */
export function exampleOf(document: OpenApiDocument, name: string) {
  const [, path = ''] = name.split(' ');
  const { parameters = [], requestBody } = operationsOf(document)[name] ?? {};
  const all = [...((document.paths[path]?.parameters ?? []) as readonly Parameter[]), ...parameters];
  const given = all.filter(({ example }) => example !== undefined);
  const json = requestBody?.content['application/json']?.example;
  const missing = all.filter((parameter) => !given.includes(parameter)).map(({ name }) => name);
  if (requestBody !== undefined && json === undefined) missing.push('body');
  const of = (place: Parameter['in']) => given.filter((one) => one.in === place);
  return {
    path: of('path').reduce((filled, { name, example }) => filled.replace(`{${name}}`, `${example}`), path),
    headers: Object.fromEntries(of('header').map(({ name, example }) => [name, `${example}`])),
    json,
    without: missing.map((part) => `${name}: ${part}`),
  };
}
