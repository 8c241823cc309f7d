import { outputOf } from './command.ts';

/** The commit of a checkout, with `-dirty` behind it when files are changed; null where git knows of none. */
export function commitOf(folder: string): string | null {
  const words = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  return outputOf('git', '-C', folder, ...words) ?? null;
}

/**
 * Seconds since 1970 that every file of a build bears: `SOURCE_DATE_EPOCH`, else the time of the commit. See
 * https://reproducible-builds.org/specs/source-date-epoch/
 */
export function dateOf(folder: string): string {
  const date = process.env.SOURCE_DATE_EPOCH || outputOf('git', '-C', folder, 'log', '-1', '--format=%ct');
  if (date === undefined)
    throw new Error('Cannot date the build: set SOURCE_DATE_EPOCH where there is no git');
  return date;
}

/** The address of the public repository, without anybody's name or password; empty when there is none. */
export function sourceOf(folder: string): string {
  const remote = outputOf('git', '-C', folder, 'remote', 'get-url', 'origin') ?? '';
  const { host, path } =
    /^(?:https:\/\/|ssh:\/\/)?(?:[^@/]*@)?(?<host>[\w.-]+)[:/](?<path>[\w./-]+?)(?:\.git)?$/.exec(remote)
      ?.groups ?? {};
  return host === undefined ? '' : `https://${host}/${path}`;
}
