/** `npm run size`: lines and files of the modules of `src`, of all TypeScript, the largest files of `src`, and words. */
import { readFileSync } from 'node:fs';
import { outputOf } from './command.ts';
import { moduleOf } from './imports.ts';
import { documentsToRead, MAX_WORDS, wordsIn } from './words.ts';

// Who reads only the first lines, as `head` does, ends it.
process.stdout.on('error', () => process.exit());

interface Size {
  readonly path: string;
  readonly lines: number;
}

const files: readonly Size[] = (outputOf('git', 'ls-files', '*.ts', '*.sql') ?? '')
  .trim()
  .split('\n')
  .map((path) => ({ path, lines: readFileSync(path, 'utf8').split('\n').length - 1 }));
const source = files.filter(({ path }) => path.startsWith('src/') && !path.endsWith('.test.ts'));

function print(name: string, sizes: readonly Size[]): void {
  const lines = sizes.reduce((sum, size) => sum + size.lines, 0);
  process.stdout.write(
    `${String(lines).padStart(6)} lines ${String(sizes.length).padStart(4)} files  ${name}\n`,
  );
}

const modules = [...Map.groupBy(source, ({ path }) => moduleOf(path))].filter(
  ([name]) => !name.endsWith('.ts'),
);
for (const [name, sizes] of modules.sort(([a], [b]) => a.localeCompare(b))) print(name, sizes);
print(
  'src/*.ts',
  source.filter((size) => moduleOf(size.path).endsWith('.ts')),
);
print('src, TypeScript and SQL without tests', source);
print(
  'all TypeScript',
  files.filter(({ path }) => path.endsWith('.ts')),
);
process.stdout.write('\nThe largest of src:\n');
for (const size of source.toSorted((a, b) => b.lines - a.lines).slice(0, 10)) print(size.path, [size]);

process.stdout.write(`\nWords of the documents, of at most ${MAX_WORDS}:\n`);
const words = documentsToRead().map((path) => ({ path, count: wordsIn(readFileSync(path, 'utf8')) }));
for (const { path, count } of words) process.stdout.write(`${String(count).padStart(6)}  ${path}\n`);
process.stdout.write(`${String(words.reduce((sum, { count }) => sum + count, 0)).padStart(6)}  in all\n`);
