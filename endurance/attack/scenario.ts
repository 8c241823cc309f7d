/** What a stranger sends, and what that may take of the service. */
export interface Scenario {
  /** As a flag names it. */
  readonly name: string;
  /** For people. */
  readonly what: string;
  readonly connections: number;
  /** Milliseconds between two that are opened; without it all are at once. */
  readonly opensEveryMs?: number;
  /** What each connection sends, once. @param index 0 for the first connection. */
  bytes(token: string, index: number): Buffer;
  /** Whether it takes its answers. */
  readonly reads: boolean;
  /** In the list. */
  readonly todos: number;
  /** Megabytes of resident memory, above that before. */
  readonly megabytes: number;
  /** Seconds of all processors together. */
  readonly processorSeconds: number;
}
