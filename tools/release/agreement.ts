/** What a release is made of, as the checkout says it. */
export interface Checkout {
  /** Of `package.json`. */
  readonly version: string;
  /** The text of `CHANGELOG.md`. */
  readonly changelog: string;
  /** The tags of the commit. */
  readonly tags: readonly string[];
  /** As `git describe` has it: with `-dirty` when files are changed. */
  readonly commit: string | null;
  /** `info.version` of each OpenAPI document, by the name of its file: `<profile>.<version>.json`. */
  readonly documents: Readonly<Record<string, string>>;
  /** What is published to npm, by the name of its `package.json`. */
  readonly packages: Readonly<Record<string, Manifest>>;
  /** `OWNER/NAME` on GitHub. npm refuses a package whose provenance names another repository than its manifest. */
  readonly repository: string;
}

interface Manifest {
  readonly version: string;
  readonly repository?: { readonly url: string };
}

/** Where version, changelog, tag and files do not agree, a sentence each. */
export function disagreements(checkout: Checkout): readonly string[] {
  const { version, changelog, tags, commit, documents, packages } = checkout;
  const url = `git+https://github.com/${checkout.repository}.git`;
  const [, newest, date] = /^## \[(\d[^\]]*)\](?: - (\d{4}-\d{2}-\d{2}))?$/m.exec(changelog) ?? [];
  const faults = [
    // Half-way through a release, npm refuses one that it cannot call the latest.
    /^\d+\.\d+\.\d+$/.test(version) || `the version must be three numbers, received ${version}`,
    newest === version ||
      `the newest release of CHANGELOG.md must be ${version}, received ${newest ?? 'none'}`,
    newest === undefined || date !== undefined || `${newest} must have a date in CHANGELOG.md`,
    tags.includes(`v${version}`) ||
      `the commit must have the tag v${version}, received ${tags.join(' ') || 'none'}`,
    ...Object.entries(documents).map(([file, received]) => {
      const [, wanted] = file.split('.');
      return (
        new RegExp(`^${wanted?.slice(1)}\\.\\d+\\.\\d+$`).test(received) ||
        `info.version of ${file} must be three numbers of ${wanted}, received ${received}`
      );
    }),
    ...Object.entries(packages).flatMap(([file, { version: received, repository }]) => [
      received === version || `the version of ${file} must be ${version}, received ${received}`,
      repository?.url === url ||
        `the repository of ${file} must be ${url}, received ${repository?.url ?? 'none'}`,
    ]),
    (commit !== null && !commit.endsWith('-dirty')) || 'no file may be changed since the commit',
  ];
  return faults.filter((fault) => fault !== true);
}
