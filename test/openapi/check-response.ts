import assert from 'node:assert/strict';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { header, json, type Reply } from '../../packages/conformance/src/http.ts';
import type { OpenApi } from '../../packages/conformance/src/open-api.ts';
import type { Exchange } from '../../packages/conformance/src/target.ts';
import { reasonPhrase } from '../../src/http/answer.ts';
import { valueAt } from './read-document.ts';

interface Response {
  readonly headers?: Readonly<Record<string, unknown>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

interface Schema {
  readonly $ref?: string;
  readonly type?: unknown;
  readonly items?: object;
}

/** Headers that change what a client does next: none may come as a surprise. */
const MEANINGFUL = [
  'location',
  'etag',
  'www-authenticate',
  'retry-after',
  'cache-control',
  'accept',
  'accept-encoding',
];

/**
 * Checks replies against an OpenAPI 3.1 document, strictly: the status is listed, headers are there and of their schema, the
 * media type is listed, the body is of its schema and has no member that the schema does not name. A line of text is that
 * of its status (contract N2), which the document says in prose.
 *
 * `HEAD` is held to what the document says of `GET`, without a body. A 500 may lack its body (contract N3).
 */
export function responseChecker(document: object) {
  const ajv = validatorOf(document);
  const validators = new Map<string, ValidateFunction>();

  function assertValid(schema: object, value: unknown, about: string): void {
    const key = JSON.stringify(schema);
    const isValid = validators.get(key) ?? ajv.compile(schema);
    validators.set(key, isValid);
    assert.ok(isValid(value), `${about}: ${JSON.stringify(value)}: ${ajv.errorsText(isValid.errors)}`);
  }

  /** `at` is the JSON Pointer of the schema. Extensions are legal for others; of our own answers we know each member. */
  function assertExact(at: string, value: unknown, about: string): void {
    const schema = valueAt(document, at) as Schema;
    if (schema.$ref !== undefined) assertExact(schema.$ref.slice(1), value, about);
    else if (Array.isArray(value) && schema.items !== undefined) {
      for (const item of value) assertExact(`${at}/items`, item, about);
    } else assertValid({ ...refer(at), unevaluatedProperties: false }, value, about);
  }

  return (method: string, pathTemplate: string, reply: Reply): void => {
    const about = `${method} ${pathTemplate}, ${reply.status}`;
    const operation = `/paths/${nameToPointer(pathTemplate)}/${method === 'HEAD' ? 'get' : method.toLowerCase()}`;
    const listed = `${operation}/responses/${reply.status}`;
    assert.ok(valueAt(document, listed), `${about}: the document does not list this response`);
    const at = referenceAt(document, listed) ?? listed;
    const { headers = {}, content = {} } = valueAt(document, at) as Response;

    for (const name of MEANINGFUL.filter((known) => header(reply, known) !== undefined)) {
      const documented = Object.keys(headers).some((known) => known.toLowerCase() === name);
      assert.ok(documented, `${about}: the document does not list the header ${name}`);
    }
    for (const name of Object.keys(headers)) {
      const own = `${at}/headers/${nameToPointer(name)}`;
      const described = referenceAt(document, own) ?? own;
      const value = header(reply, name);
      if (value === undefined) {
        const required = valueAt(document, `${described}/required`);
        assert.ok(required !== true, `${about}: the header ${name} is missing`);
      } else assertValid(refer(`${described}/schema`), value, `${about}: ${name}`);
    }

    const type = header(reply, 'content-type')?.split(';')[0];
    if (type === undefined) {
      assert.equal(reply.body.length, 0, `${about}: a body without a type`);
      assert.ok(reply.status === 500 || Object.keys(content).length === 0, `${about}: the body is missing`);
      return;
    }
    if (type === 'text/plain' && reply.status >= 400) {
      if (method !== 'HEAD')
        assert.equal(
          reply.body.toString(),
          `Status Code: ${reply.status}; ${reasonPhrase(reply.status)}`,
          about,
        );
      return;
    }
    assert.ok(content[type], `${about}: the document does not list ${type}`);
    if (method !== 'HEAD') assertExact(`${at}/content/${nameToPointer(type)}/schema`, json(reply), about);
  };
}

/** Whether a value is of the schema of this name, in an OpenAPI 3.1 document. */
export function schemaChecker(document: object, name: string): (value: unknown) => boolean {
  return validatorOf(document).compile(refer(`/components/schemas/${name}`));
}

function validatorOf(document: object): Ajv2020 {
  const formats = { int32: true, uri: true } as const;
  return new Ajv2020({ strict: false, allErrors: true, formats }).addSchema(document, DOCUMENT);
}

/** Before routing, whatever the path: these answers belong to no operation. */
const beforeRouting = new Set([400, 408, 417, 431]);

/**
 * Every exchange with an operation of the document got a response that the document promises for it. What no
 * operation stands for (404 of an unmatched path, 405, faults of the transport) is passed over.
 */
export function assertDescribed(document: OpenApi, exchanges: readonly Exchange[]): void {
  const check = responseChecker(document);
  let described = 0;
  for (const { method, path, reply } of exchanges) {
    const template = templateOf(document, path);
    if (template === undefined || reply.status === 405) continue;
    const operation = document.paths[template]?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (operation === undefined) continue;
    if (beforeRouting.has(reply.status) && !(reply.status in operation.responses)) continue;
    check(method, template, reply);
    described += 1;
  }
  assert.notEqual(described, 0, 'no exchange stands in the document');
}

/** The path of the document that a request target names, trailing slash, letter case and query aside. */
function templateOf(document: OpenApi, target: string): string | undefined {
  const path = (target.split('?')[0] ?? '').toLowerCase().replace(/\/$/, '');
  return Object.keys(document.paths).find((template) => {
    return new RegExp(`^${template.replace('{id}', '(?:[+-]|%2b)?\\d{1,9}')}$`).test(path);
  });
}

const DOCUMENT = 'document:';

function referenceAt(document: unknown, pointer: string): string | undefined {
  const reference = valueAt(document, `${pointer}/$ref`);
  return typeof reference === 'string' ? reference.slice(1) : undefined;
}

/** A reference to what stands at a JSON Pointer, for the schemas made here. */
function refer(pointer: string): { readonly $ref: string } {
  return { $ref: `${DOCUMENT}#${encodeURI(pointer)}` };
}

function nameToPointer(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
