import { readWhole } from '../whole-number.ts';

/** The variables of the admin listener, an empty one as undefined. */
export interface RawAdmin {
  readonly host: string | undefined;
  readonly port: string | undefined;
}

export interface AdminSettings {
  readonly host: string;
  /** 0 to 65535; 0 picks a free port. */
  readonly port: number;
}

/** Where the admin listener listens; undefined when nobody asked for one. */
export function readAdmin({ host, port }: RawAdmin, faults: string[]): AdminSettings | undefined {
  if (port === undefined) return undefined;
  const range = { from: 0, to: 65_535, otherwise: 0 };
  return { host: host ?? '127.0.0.1', port: readWhole('TODO_ADMIN_PORT', port, range, faults) };
}
