/**
 * The variables that a machine or its user has chosen and that must make no difference to a test. A list of what leaves:
 * CHROMIUM_PATH, HANGS_AFTER_S, LEFT_OUT, LONG, POSTGRES_PROGRAMS, RELEASED and TITLES are for the tests, and the rest is for
 * programs that they start.
 */
const LEAVES = [
  /^(PG|OTEL_|TODO_)/,
  /^PORT$/,
  // Proxies.
  /^((https?|ftp|all|no)_proxy|NODE_USE_ENV_PROXY)$/i,
  // Colours.
  /^(FORCE_COLOR|NO_COLOR|NODE_DISABLE_COLORS|CLICOLOR|CLICOLOR_FORCE|COLORTERM)$/,
  // What Node.js and its packages do in production, and what Node.js says on standard error.
  /^NODE_(ENV|DEBUG|NO_WARNINGS|PENDING_DEPRECATION|TLS_REJECT_UNAUTHORIZED)$/,
  // What a hook of git sets for the repository that it belongs to.
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|PREFIX|COMMON_DIR|OBJECT_DIRECTORY)$/,
  // Shells, languages and systemd.
  /^(BASH_ENV|CDPATH|LANGUAGE|JOURNAL_STREAM|MAINPID|LISTEN_(FDS|PID|FDNAMES))$/,
];

type Environment = Readonly<Record<string, string | undefined>>;

/** An environment without what a machine or its user has chosen. npm alone keeps the proxy by which it has the registry. */
export function plain(environment: Environment): Environment {
  const kept = Object.entries(environment).filter(([name]) => !LEAVES.some((names) => names.test(name)));
  const {
    https_proxy,
    HTTPS_PROXY: proxy = https_proxy,
    no_proxy,
    NO_PROXY: direct = no_proxy,
  } = environment;
  const ofNpm = proxy && {
    npm_config_https_proxy: proxy,
    npm_config_noproxy: [direct, '127.0.0.1', 'localhost'].filter(Boolean).join(),
  };
  return { ...Object.fromEntries(kept), ...(ofNpm || {}), LC_ALL: 'C.UTF-8', TZ: 'UTC' };
}
