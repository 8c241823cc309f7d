import { giveUp, outputOf } from './command.ts';

/** What git says of the repository whose root a folder is; undefined where it is none. One around it is another project's. */
function git(folder: string, ...words: readonly string[]): string | undefined {
  return outputOf('git', '-C', folder, '--git-dir=.git', '--work-tree=.', ...words);
}

/** The commit of a checkout, with `-dirty` behind it when files are changed; null where git knows of none. */
export function commitOf(folder: string): string | null {
  const words = ['describe', '--always', '--dirty', '--abbrev=40', '--exclude=*'];
  return git(folder, ...words) ?? null;
}

/** The tags of the commit of a checkout. */
export function tagsOf(folder: string): readonly string[] {
  return (git(folder, 'tag', '--points-at', 'HEAD') ?? '').split('\n').filter(Boolean);
}

/**
 * Seconds since 1970 that every file of a build bears: `SOURCE_DATE_EPOCH`, else the time of the commit. See
 * https://reproducible-builds.org/specs/source-date-epoch/
 */
export function dateOf(folder: string): string {
  const date = process.env.SOURCE_DATE_EPOCH || git(folder, 'log', '-1', '--format=%ct');
  return date ?? giveUp('Cannot date the build: set SOURCE_DATE_EPOCH where there is no git');
}

/** The address of the public repository, without anybody's name or password; empty when there is none. */
export function sourceOf(folder: string): string {
  const remote = git(folder, 'remote', 'get-url', 'origin') ?? '';
  const { host, path } =
    /^(?:https:\/\/|ssh:\/\/)?(?:[^@/]*@)?(?<host>[\w.-]+)[:/](?<path>[\w./-]+?)(?:\.git)?$/.exec(remote)
      ?.groups ?? {};
  return host === undefined ? '' : `https://${host}/${path}`;
}
