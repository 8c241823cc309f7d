import { nearestTo } from './nearest.ts';
import { VARIABLES } from './settings.ts';

/** A variable that looks like one of this service, and is none. */
interface UnknownVariable {
  readonly name: string;
  /** The one that was meant, most likely; undefined when none is near. */
  readonly nearest: string | undefined;
}

/** Kubernetes tells every container of the services in its namespace: one named "todo" makes `TODO_PORT_5080_TCP`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT|PORT_\d{1,5}_[A-Z]{3,4})(?:_|$)/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** The variables `TODO_…` that nothing reads: no fault, and most likely misspelled. */
export function unknownVariables(env: NodeJS.ProcessEnv): readonly UnknownVariable[] {
  const known: readonly string[] = VARIABLES;
  return Object.entries(env)
    .filter(([name]) => name.startsWith('TODO_') && !known.includes(name))
    .filter(([name, value = '']) => !SERVICE_LINK.test(name) && !SERVICE_ADDRESS.test(value))
    .map(([name]) => ({ name, nearest: nearestTo(name, VARIABLES) }));
}
