import assert from 'node:assert/strict';
import type { OpenApi } from '../../conformance/src/open-api.ts';
import type { Exchange } from '../../conformance/src/target.ts';
import { responseChecker } from './check-response.ts';

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
