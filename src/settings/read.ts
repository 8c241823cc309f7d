import { nearestTo } from '../lib/nearest.ts';
import { isOneAddress } from '../lib/one-address.ts';
import { quote, quoteAddress, quoteFile, quoteReceived } from '../lib/quote.ts';
import { hasComment, isWhiteSpace } from '../lib/white-space.ts';
import { type Environment, flagOf, settingOf, VARIABLES, type Value, type Variable } from './table.ts';

/** The faults of a configuration: a line each, with the received value and the wanted one. */
export class ConfigFaults extends Error {
  override readonly name = 'ConfigFaults';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.faults = faults;
  }
}

/** The values of the command line. `--data-dir` stands for `TODO_DATA_DIR`, and beats it. */
export type GivenFlags = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

export type Settings = ReturnType<typeof readSettings>;

/** Reads the settings of a command, and notes every fault: three wrong settings cost one start. */
export function readSettings(env: NodeJS.ProcessEnv, flags: GivenFlags) {
  const faults: string[] = [];
  /** Variables that `read` has refused: no other fault names them. */
  const unread = new Set<Variable>();
  const inForce = new Map<Variable, string | number | undefined>();
  // An empty flag is most likely an unset variable of the shell, which must not fall back to a default.
  for (const [flag, value] of Object.entries(flags)) {
    if (value === '') faults.push(`--${flag} must have a value, received ""`);
  }

  const given = (variable: Variable) => givenAs(variable, env, flags);

  /**
   * Notes that a variable, or the flag in its place, needs another value; does nothing where `read` has refused it. The
   * result stands for the value that is not there.
   *
   * @param received The value as it may be shown; by default without the parts that may be a credential.
   */
  function refuse(variable: Variable, wanted: string, received = quoted(variable, given(variable)?.text)) {
    return fault(`${given(variable)?.name ?? variable} ${wanted}, received ${received}`, variable);
  }

  /** The value by its row of the table; without one its default, that of `environment` where there are two. */
  function read<V extends Variable>(variable: V, environment: Environment = 'production'): Value<V> {
    const setting = settingOf(variable);
    const received = given(variable)?.text;
    const otherwise = (environment === 'development' ? setting.development : undefined) ?? setting.default;
    const parsed = received === undefined ? { value: otherwise } : parse(variable, received);
    if ('wanted' in parsed) {
      refuse(variable, parsed.wanted, parsed.received);
      unread.add(variable);
    }
    // The service never runs with the placeholder of a faulty value.
    const value = 'value' in parsed ? parsed.value : (otherwise ?? 0);
    inForce.set(variable, value);
    // The row of the table decides the type of the value.
    return value as Value<V>;
  }

  /** Notes any other fault, for people, without a secret; does nothing where `read` has refused one of these. */
  function fault(line: string, ...of: readonly Variable[]): undefined {
    if (!of.some((variable) => unread.has(variable))) faults.push(line);
  }

  /** The result, when no fault was noted; without a fault no part is missing. @throws {ConfigFaults} */
  function whenSound<T>(read: T | undefined): T {
    if (faults.length > 0 || read === undefined) throw new ConfigFaults(faults);
    return read;
  }

  return {
    read,
    given,
    refuse,
    quoted,
    fault,
    whenSound,
    /** The value of another program's variable, for example of libpq; undefined when it is empty. */
    other: (name: string) => env[name] || undefined,
    faults: faults as readonly string[],
    /** The settings that were read so far, with the values in force; undefined where there is none. May be secret. */
    inForce: inForce as ReadonlyMap<Variable, string | number | undefined>,
  };
}

/**
 * The source of a setting, by the name that people know: a flag before the variable, the variable before another
 * program's. Undefined where its default counts. An empty variable counts as not set.
 */
export function givenAs(
  variable: Variable,
  env: NodeJS.ProcessEnv,
  flags: GivenFlags,
): { readonly name: string; readonly text: string } | undefined {
  const flag = flagOf(variable) ?? '';
  const text = flags[flag];
  if (typeof text === 'string') return { name: `--${flag}`, text };
  const { anyCase, otherVariable } = settingOf(variable);
  const byName = (name: string) => ({ name, text: env[name] ?? '' });
  const ours = [
    ...(anyCase ? [{ ...byName(variable.toLowerCase()), name: variable }] : []),
    byName(variable),
  ];
  return [...ours, byName(otherVariable ?? '')].find((candidate) => candidate.text !== '');
}

/** A received value as a fault may show it, without what may be secret (contract D18), as a password in an address. */
function quoted(variable: Variable, text: string | undefined): string {
  if (text === undefined) return 'nothing';
  const { is } = settingOf(variable);
  if (is === 'file') return quoteFile(text);
  // Hidden characters must not keep an address from being seen as one.
  const looksLikeOne = /@|:\/\//.test(text.replaceAll(/[^ -~]/g, ''));
  if (is === 'address' || is === 'folder' || (is === 'open' && looksLikeOne)) return quoteAddress(text);
  if (is === 'open') return quote(text);
  const ofKubernetes = ', which Kubernetes sets for a Service unless the Pod has "enableServiceLinks: false"';
  return `${quoteReceived(text)}${SERVICE_ADDRESS.test(text) ? ofKubernetes : ''}`;
}

/** A name (RFC 1123 §2.1, also with underscores), or an address, of IPv6 with its zone. */
const NAME_OR_ADDRESS = /^[\w.:%-]{1,253}$/;

/** The value of a setting, or the wanted value and the part to show; both where a text has stray characters. */
type Parsed =
  | { readonly value: string | number }
  | { readonly wanted: string; readonly received?: string; readonly value?: string };

/** The value of a text by its row of the table. */
function parse(variable: Variable, text: string): Parsed {
  const setting = settingOf(variable);
  if ('oneOf' in setting) {
    if (setting.oneOf.includes(text)) return { value: text };
    return { wanted: `must be one of ${setting.oneOf.map((one) => `"${one}"`).join(', ')}` };
  }
  if ('from' in setting) {
    const { from, to, unit } = setting;
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= from && number <= to) return { value: number };
    return {
      wanted: `must be a whole number ${unit === undefined ? '' : `of ${unit} `}from ${from} to ${to}`,
    };
  }
  const stray = strayIn(text, 'noComment' in setting);
  if (stray !== undefined) return { ...stray, value: text };
  const one = 'one' in setting ? setting.one : undefined;
  if (one !== undefined && !(isOneAddress(text) && (one === 'address' || !DOCUMENT.test(text))))
    return { wanted: `must be one ${ONE[one]}`, value: text };
  // It would be made, and then shown by its name.
  if (setting.is === 'folder' && text.includes('://')) return { wanted: 'must be a folder, not an address' };
  if ('host' in setting && !NAME_OR_ADDRESS.test(text))
    return { wanted: 'must be the name or address of a host, like "localhost", "0.0.0.0" or "::1"' };
  return { value: text };
}

/** The address of a document of an issuer (RFC 8615), which is not the issuer. */
const DOCUMENT = /\/\.well-known(?:\/|$)/;

const ONE = {
  issuer:
    'issuer; a second needs a second instance, a placeholder its value, and "/.well-known/…" is no part of it',
  address: 'address; a placeholder needs its value',
};

/**
 * The stray part of a text: the final line break of a secret, quotes of an env-file, a comment behind a value (contract
 * D18). The rest of the text is not shown: it may be a secret in the place of a file.
 */
function strayIn(text: string, noComment: boolean): { wanted: string; received: string } | undefined {
  const [first = '', last = ''] = [text[0], text.at(-1)];
  const [before, after] = [strayName(first), strayName(last)];
  if (before !== undefined) return { wanted: `must not begin with ${before}`, received: quote(`${first}…`) };
  if (after !== undefined) return { wanted: `must not end with ${after}`, received: quote(`…${last}`) };
  if (text.length > 1 && first === last && /["']/.test(first))
    return { wanted: 'must not stand in quotes', received: quote(`${first}…${last}`) };
  if (noComment && hasComment(text)) {
    const wanted = 'must not have white space before a "#": a comment has a line of its own';
    return { wanted, received: '"… #…"' };
  }
  return undefined;
}

function strayName(character: string): string | undefined {
  if (isWhiteSpace(character)) return 'white space';
  return /\p{Cc}/u.test(character) ? 'a control character' : undefined;
}

/** Kubernetes gives every container variables of each Service: one named "todo" makes `TODO_PORT_5080_TCP`. */
const SERVICE_LINK = /_(?:SERVICE_HOST|SERVICE_PORT|PORT_\d{1,5}_[A-Z]{3,4})(?:_|$)/;
const SERVICE_ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** Variables of OpenTelemetry that are secret, or about other features: metrics and logs by OTLP, limits, agents. */
const OF_OPENTELEMETRY =
  /^OTEL_(?:(?:EXPORTER_OTLP_(?:TRACES_)?(?:HEADERS|INSECURE)|LOG_LEVEL|CONFIG_FILE|ENTITIES|SEMCONV_STABILITY_OPT_IN)$|(?:METRICS?|LOGS|LOGRECORD|BLRP|EXPORTER_(?:OTLP_(?:METRICS|LOGS)|PROMETHEUS|ZIPKIN|JAEGER)|ATTRIBUTE|SPAN|EVENT|LINK|RESOURCE_ATTRIBUTES|INSTRUMENTATION|EXPERIMENTAL|INJECTOR|NODE|JAVA|JAVAAGENT|PYTHON|GO|DOTNET|PHP|RUBY)_)/;

/** The variables `TODO_…` and `OTEL_…` that nothing reads: no fault, most likely misspelled. `nearest` may be meant. */
export function unknownVariables(env: NodeJS.ProcessEnv) {
  const known: readonly string[] = VARIABLES;
  return Object.entries(env)
    .filter(([name]) => /^(?:TODO|OTEL)_/.test(name) && !known.includes(name) && !OF_OPENTELEMETRY.test(name))
    .filter(([name, value = '']) => !SERVICE_LINK.test(name) && !SERVICE_ADDRESS.test(value))
    .map(([name]) => ({ name, nearest: nearestTo(name, VARIABLES) }));
}
