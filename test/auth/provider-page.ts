import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';

/** The page of the providers that were run, and of what holds for all. */
export const PAGE = readFileSync('docs/identity-providers.md', 'utf8');

/** A section with the settings of a provider. */
interface Section {
  readonly provider: string;
  /** The block to copy into an env-file. */
  readonly block: string;
  /** What Node.js reads of it. */
  readonly settings: Readonly<Record<string, string>>;
  /** How they were tried; undefined where the provider was not run. */
  readonly run: string | undefined;
}

/** By page. */
export const RUN = sectionsOf(PAGE);
export const BY_DOCUMENTATION = sectionsOf(
  readFileSync('docs/identity-providers-by-documentation.md', 'utf8'),
);

/** The sections of a page that have a block of settings. */
function sectionsOf(page: string): readonly Section[] {
  return page.split(/^(?=##+ )/m).flatMap((text) => {
    const [, provider = ''] = /^##+ (.+)$/m.exec(text) ?? [];
    const [, run] = /^\*Run(?:: )?(.*)\*$/m.exec(text) ?? [];
    const blocks = Array.from(text.matchAll(/^```ini\n(.*?)^```$/gms), ([, block = '']) => block);
    return blocks.map((block) => ({ provider, block, settings: settingsIn(block), run }));
  });
}

function settingsIn(block: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parseEnv(block)).map(([name, value = '']) => [name, value]));
}

/** The section for the tokens of a provider, which may have a longer name: `Dex: groups, …`. */
export function sectionFor(tokens: string): Section | undefined {
  return [...RUN, ...BY_DOCUMENTATION].find(({ provider }) =>
    [' ', ':', ','].some((end) => `${tokens} `.startsWith(provider + end)),
  );
}

/** The settings that a page has for a provider. */
export function settingsOf(provider: string): Readonly<Record<string, string>> {
  const section = sectionFor(provider);
  if (section === undefined) throw new Error(`No page has settings for ${provider}`);
  return section.settings;
}
