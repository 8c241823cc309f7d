import type { LogEvent } from '../events.ts';
import { didYouMean } from '../lib/nearest.ts';
import { within } from '../lib/promises.ts';
import { shellWord } from '../lib/quote.ts';
import { type Config, readConfig } from '../server/config.ts';
import { openService, type Service } from '../server/service.ts';
import { unknownVariables } from '../settings/read.ts';
import { SETTINGS, VARIABLES } from '../settings/table.ts';
import { eventLogger, openLog } from '../telemetry/log.ts';
import type { Output } from '../telemetry/standard-output.ts';
import { defineCommand, printFault, printUnknownVariables } from './command.ts';
import { FLAGGED, SERVE_FLAGS, serveFlagsHelp, settingsHelp } from './flags.ts';
import { crashed, signalled, waitForNothing } from './signals.ts';

const OTHERS = VARIABLES.filter(
  (variable) => !FLAGGED.includes(variable) && /^TODO_|^LISTEN_|^OTEL_EXPORTER_OTLP_ENDPOINT$/.test(variable),
);

const HELP = `Usage: todo-service serve [flags]

Serves the todo list (profile shared-list) or the error demo (profile error-demo). Ends with SIGTERM or Ctrl-C.

${serveFlagsHelp()}

A flag beats its variable, the later of two flags wins, and an empty variable counts as not set. Only variables:

${settingsHelp(OTHERS)}

docs/configuration.md has each setting below a heading with its name (docs/configuration.md#todo_port), and the other
variables of OpenTelemetry (docs/configuration.md#traces).

Production needs an issuer and an audience; the keys come from the issuer unless one other source is named.
Development makes its own key.

Exit codes: 0 stopped, 1 stopped after an uncaught exception, 2 wrong usage, 65 the SQLite file is empty, damaged or
not of this service, 69 database, port, path or the packages for traces cannot be used, 75 another process serves the
same file, 78 faults in the configuration, no right to the port or the path, or a list in another schema, 129, 130 or
143 ended at once by a second signal.

Examples:
  todo-service serve --environment development
  todo-service serve --profile error-demo --port 8080
  TODO_AUTH_ISSUER=https://login.example.org TODO_AUTH_AUDIENCE=todo-service \\
    todo-service serve --host 0.0.0.0
`;

/** Milliseconds for the store and the keys to close after the last answer. */
const CLOSING_MS = 5_000;

const LINE = { action: 'start', flags: SERVE_FLAGS, help: HELP };

export const serve = defineCommand(LINE, async (flags, env) => {
  const { config } = await readConfig(flags, env).catch((error) => {
    printUnknownVariables(env);
    throw error;
  });
  const { log, output } = openLog(config.environment, config.logLevel, env.JOURNAL_STREAM);
  const logEvent = eventLogger(log, config.audit);
  for (const { name, nearest } of unknownVariables(env)) {
    const message = `nothing reads the variable "${name}"${didYouMean(nearest)}`;
    logEvent({ event: 'unknown-variable', name, nearest }, { message });
  }
  if (env.NODE_TLS_REJECT_UNAUTHORIZED === '0') logEvent({ event: 'certificates-unchecked' });
  const stop = signalled(logEvent);
  const starting = new AbortController();
  void stop.then(() => starting.abort());
  const opening = openService(config, { logEvent, output }, starting.signal).catch(printNotStarted);
  const opened = await Promise.race([opening, stop]);
  if (typeof opened === 'number') return opened;
  if (typeof opened === 'string') {
    logEvent({ event: 'start-stopped', reason: opened });
    waitForNothing();
    return 0;
  }
  await using service = opened;
  if (config.environment === 'production') announce(config, service, logEvent);
  else await greet(config, service, output);
  const reason = await Promise.race([stop, crashed(logEvent)]);
  logEvent({ event: 'stopping', reason });
  const { shutdownSeconds, shutdownDelaySeconds } = config;
  const milliseconds = (shutdownDelaySeconds + shutdownSeconds) * 1_000 + CLOSING_MS;
  if ((await within(milliseconds, service[Symbol.asyncDispose](), 'late')) === 'late') {
    logEvent({ event: 'stop-failed', milliseconds });
    process.exit(1);
  }
  logEvent({ event: 'stopped' });
  waitForNothing();
  return 0;
});

/** Prints a fault of the start, also when a signal has ended the start already: no other line says it. */
function printNotStarted(error: unknown): number {
  if (error instanceof Error && error.name === 'AbortError') return 0;
  return printFault(LINE.action, error);
}

function announce(config: Config, service: Service, logEvent: LogEvent): void {
  const { environment, from, profile, traces } = config;
  const { url, adminUrl, database, keys } = service;
  logEvent({
    event: 'started',
    url,
    portFrom: from,
    adminUrl,
    profile: profile.name,
    environment,
    database,
    keys,
    traces: traces?.collector,
  });
}

async function greet(config: Config, service: Service, output: Output): Promise<void> {
  const { environment, from, profile, traces } = config;
  const { url, adminUrl, database, keys } = service;
  const { isScalarInstalled, PAGE_PATH } = await import('../server/reference-page.ts');
  const lines = [
    `todo-service, profile ${profile.name}, ${environment}`,
    `listening  ${url}`,
    ...(from === undefined ? [] : [`${from === 'PORT' ? 'port  ' : 'socket'}     from the variable ${from}`]),
    ...(isScalarInstalled() && url.startsWith('http') ? [`browser    ${url}${PAGE_PATH}`] : []),
    ...(adminUrl === undefined ? [] : [`admin      ${adminUrl}`]),
    `database   ${database ?? 'none: todos are kept in memory'}`,
    ...(keys === undefined ? [] : [`tokens     ${keys}`]),
    ...(traces === undefined ? [] : [`traces     ${traces.collector}`]),
    ...tokenLine(profile),
  ];
  output.write(`${lines.join('\n  ')}\n`, { mayWait: false, important: false });
}

/** The way to a token of this program, for the form in which it was started: a checkout or a package. */
function tokenLine(profile: Config['profile']): string[] {
  if (profile.name !== 'shared-list' || profile.auth.source.kind === 'secret-file') return [];
  const program = import.meta.url.endsWith('.ts') ? 'npm run -s token --' : 'todo-service token create';
  if (profile.auth.source.kind !== 'development') {
    return [
      `a token    from ${profile.auth.issuer}: those of "${program.replace(' --', '')}" are not accepted`,
    ];
  }
  const where =
    profile.dataDir === SETTINGS.TODO_DATA_DIR.default ? '' : ` --data-dir ${shellWord(profile.dataDir)}`;
  return [`a token    ${program} --name ada --role editor${where}`];
}
