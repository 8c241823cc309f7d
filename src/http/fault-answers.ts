import type { IncomingMessage } from 'node:http';
import type { Fault, FaultAnswer, FaultAnswers } from '../wire/fault.ts';
import { NOT_HTTP } from '../wire/validation.ts';
import { reasonPhrase } from './answer.ts';
import type { Cors } from './cors.ts';
import { PROBLEM_JSON, problemBody } from './problem.ts';
import { newTraceId, traceIdOf } from './trace-id.ts';

/** The answers to requests refused before routing. @param cors Other origins whose pages are let in (contract R6). */
export function faultAnswers(cors?: Cors): FaultAnswers {
  return {
    make(fault, request) {
      const answer = makeFaultAnswer(fault, request);
      // The origin in a head that is too large, or not HTTP, is not trusted.
      const isPlain = request === undefined || fault.status === 431 || fault === NOT_HTTP;
      return isPlain || cors === undefined ? answer : cors.apply(answer, request);
    },
    permits: (request) => cors?.permits(request) ?? false,
  };
}

/** An answer that is always JSON (contract N5). */
export function makeFaultAnswer(fault: Fault, request: IncomingMessage | undefined): FaultAnswer {
  const { status, detail } = fault;
  const traceId = request === undefined ? newTraceId(undefined) : traceIdOf(request);
  const headers = {
    'x-content-type-options': 'nosniff',
    vary: 'Accept',
    'cache-control': 'no-store',
    'content-type': PROBLEM_JSON,
  };
  return {
    status,
    phrase: reasonPhrase(status),
    headers,
    body: problemBody(fault, traceId),
    detail,
    traceId,
  };
}
