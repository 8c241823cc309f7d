import type { IncomingMessage } from 'node:http';

/** The reason why a request is refused before any route gets it. */
export interface Fault {
  /** 400 to 499. */
  readonly status: number;
  readonly detail?: string;
}

/** The answer to a refused request, without the headers of its framing. */
export interface FaultAnswer {
  readonly status: number;
  readonly phrase: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  /** Its `detail` and `traceId`, for the log (contract P5). */
  readonly detail: string | undefined;
  readonly traceId: string;
}

/** The questions about a refused request that a listener is given the answers to. */
export interface FaultAnswers {
  /** @param request Undefined where no head could be parsed. */
  make(fault: Fault, request: IncomingMessage | undefined): FaultAnswer;
  /** Whether a request goes on although the escapes of its path are wrong (contract R6). */
  permits(request: IncomingMessage): boolean;
}
