import assert from 'node:assert/strict';
import { responseChecker } from '../openapi/check-response.ts';
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
  readonly content?: Readonly<Record<string, unknown>>;
}

/** The operations of a path item, without what it says for all of them. */
export function operationsOf(pathItem: Readonly<Record<string, Operation>>): readonly Operation[] {
  return Object.values(pathItem).filter((member) => 'responses' in member);
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
