import { describe } from 'node:test';
import { cruise } from 'dependency-cruiser';
import { temporaryFolder } from '../../test/support/folder.ts';
import { outputOf } from '../../tools/command.ts';
import { holds } from './holds.ts';

describe('the list of parts of a release', () => {
  holds('npm sbom gives each list a time and a random number: two of one release differ', async () => {
    await using folder = await temporaryFolder();
    await folder.write('package.json', '{"name":"a","version":"1.0.0"}');
    await folder.write(
      'package-lock.json',
      '{"name":"a","version":"1.0.0","lockfileVersion":3,"packages":{"":{"name":"a","version":"1.0.0"}}}',
    );
    const list = () => {
      const words = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
      return JSON.parse(outputOf('npm', '--prefix', folder.path, ...words) ?? '{}');
    };
    const [first, second] = [list(), list()];
    return [
      first.serialNumber === second.serialNumber,
      first.metadata.timestamp === second.metadata.timestamp,
    ];
  }, [false, false]);
});

describe('the check of imports', () => {
  holds('dependency-cruiser finds no file of a folder of TypeScript, where the compiler is TypeScript 7', async () => {
    await using folder = await temporaryFolder();
    await folder.write('a.ts', "import './b.ts';\n");
    await folder.write('b.ts', '');
    const { output } = await cruise([folder.path]);
    return typeof output === 'string' ? output : output.modules.map(({ source }) => source);
  }, []);
});
