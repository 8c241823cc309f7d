import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { describe } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { JSONStorage, Umzug } from 'umzug';
import { temporaryFolder } from '../../test/support/folder.ts';
import { holds } from './holds.ts';

describe('migrations', () => {
  holds(
    'umzug runs a migration twice for two processes that start at once',
    async () => {
      await using folder = await temporaryFolder();
      const path = await folder.write('migrations.json', '[]');
      let runs = 0;
      const up = async () => {
        runs += 1;
        await sleep(100);
      };
      const process = () =>
        new Umzug({
          migrations: [{ name: '1', up }],
          storage: new JSONStorage({ path }),
          logger: undefined,
        }).up();
      await Promise.all([process(), process()]);
      return runs;
    },
    2,
  );
});

describe("the export's format", () => {
  const linesOf = (...chunks: readonly string[]) =>
    createInterface({ input: Readable.from(chunks) })[Symbol.asyncIterator]();

  holds(
    'node:readline hides whether the last line has its end',
    async () => [
      await Array.fromAsync({ [Symbol.asyncIterator]: () => linesOf('{}\n{}\n') }),
      await Array.fromAsync({ [Symbol.asyncIterator]: () => linesOf('{}\n{}') }),
    ],
    [
      ['{}', '{}'],
      ['{}', '{}'],
    ],
  );
  holds(
    'node:readline breaks a line at U+2028, which a title may have',
    async () => Array.fromAsync({ [Symbol.asyncIterator]: () => linesOf('{"title":"a\u2028b"}\n') }),
    ['{"title":"a', 'b"}'],
  );
  holds(
    'node:readline reads a line of 16 MiB to its end',
    async () => (await linesOf(...Array(16).fill('x'.repeat(2 ** 20))).next()).value?.length,
    2 ** 24,
  );
});
