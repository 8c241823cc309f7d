import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { header, json } from './http.ts';
import type { Exchange } from './target.ts';

/** The parts of an OpenAPI 3.1 document that these tests read. */
export interface OpenApi {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly securitySchemes?: Readonly<Record<string, { readonly type: string; readonly scheme: string }>>;
  };
}

export interface Operation {
  readonly responses: Readonly<Record<string, Response>>;
}

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: object }>>;
  readonly headers?: Readonly<Record<string, unknown>>;
}

/** The operations of a path item, without what it says for all of them. */
export function operationsOf(pathItem: Readonly<Record<string, Operation>>): readonly Operation[] {
  return Object.values(pathItem).filter((member) => 'responses' in member);
}

/** Before routing, whatever the path: these answers belong to no operation. */
const beforeRouting = new Set([400, 408, 417, 431]);

/**
 * Every exchange with an operation of the document got a response that the operation lists: status, media type,
 * and a body of its schema. What no operation stands for (404 of an unmatched path, 405, faults of the transport)
 * is passed over.
 */
export function assertDescribed(document: OpenApi, exchanges: readonly Exchange[]): void {
  const validate = schemaValidator(document);
  let described = 0;
  for (const { method, path, reply } of exchanges) {
    const template = templateOf(document, path);
    const pathItem = template === undefined ? undefined : document.paths[template];
    const operation = pathItem?.[method === 'HEAD' ? 'get' : method.toLowerCase()];
    if (operation === undefined || reply.status === 405) continue;
    const about = `${method} ${path} ${reply.status}`;
    const response = resolve(document, operation.responses[String(reply.status)]);
    if (response === undefined && beforeRouting.has(reply.status)) continue;
    assert.ok(response, `${about} is not in the document`);
    described += 1;
    const type = header(reply, 'content-type')?.split(';')[0];
    if (type === undefined) continue;
    const media = response.content?.[type];
    assert.ok(media, `${about}: ${type} is not in the document`);
    if (type !== 'text/plain' && reply.body.length > 0 && media.schema !== undefined) {
      assert.deepEqual(validate(media.schema, json(reply)), [], `${about}: ${reply.body}`);
    }
  }
  assert.notEqual(described, 0, 'no exchange stands in the document');
}

/** Validates against schemas that may refer to the document's components. */
function schemaValidator(document: OpenApi): (schema: object, value: unknown) => readonly unknown[] {
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(document, 'document:');
  const compiled = new Map<object, ReturnType<typeof ajv.compile>>();
  return (schema, value) => {
    const local = JSON.stringify(schema).replaceAll('"$ref":"#/', '"$ref":"document:#/');
    const validate = compiled.get(schema) ?? ajv.compile(JSON.parse(local) as object);
    compiled.set(schema, validate);
    validate(value);
    return validate.errors ?? [];
  };
}

function resolve(document: OpenApi, response: Response | undefined): Response | undefined {
  if (response?.$ref === undefined) return response;
  const steps = response.$ref.replace('#/', '').split('/');
  return steps.reduce<unknown>((at, step) => (at as Record<string, unknown>)[step], document) as Response;
}

/** The path of the document that a request target names, trailing slash, letter case and query aside. */
function templateOf(document: OpenApi, target: string): string | undefined {
  const path = (target.split('?')[0] ?? '').toLowerCase().replace(/\/$/, '');
  return Object.keys(document.paths).find((template) => {
    return new RegExp(`^${template.replace('{id}', '(?:[+-]|%2b)?\\d{1,9}')}$`).test(path);
  });
}
