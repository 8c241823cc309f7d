import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { readSettings } from '../../src/settings/read.ts';
import { readDatabase } from '../../src/storage/settings.ts';

const ROW = /^\| ([^|]+) \| [^|`]*`(postgres(?:ql)?:\/\/[^`]+)`[^|]* \| ([^|]+) \|$/gm;

async function faultOf(text: string): Promise<string | undefined> {
  const settings = readSettings({ TODO_DATABASE: text }, {});
  await readDatabase(settings, 'data');
  return settings.faults[0];
}

const rows = Array.from(
  readFileSync('docs/postgresql.md', 'utf8').matchAll(ROW),
  ([, name, text, change]) => ({
    name: name ?? '',
    text: text ?? '',
    change: change ?? '',
  }),
);

test('docs/postgresql.md has a row for each provider', () => {
  const providers = rows.map(({ name }) => name.split(',')[0]);
  assert.deepEqual(
    [...new Set(providers)],
    ['Neon', 'Supabase', 'Amazon RDS', 'Azure', 'Google Cloud SQL', 'Aiven', 'Heroku', 'Render'],
  );
});

for (const { name, text, change } of rows) {
  test(`the string of ${name} in docs/postgresql.md is read as the page says [D25]`, async () => {
    const [what = ''] = change.split(/[;:]/);
    const [, left = ''] = /leave out ((?:`\w+`(?: and )?)+)/.exec(what) ?? [];
    const [, added = ''] = /add `([^`]+)`/.exec(what) ?? [];
    assert.ok(/^nothing/.test(what) || left !== '' || added !== '', change);
    const [address = '', query = ''] = text.split('?');
    const names = left.match(/\w+/g)?.filter((word) => word !== 'and') ?? [];
    if (names.length === 0) assert.equal(await faultOf(text), undefined);
    else
      assert.ok((await faultOf(text))?.includes(`"${names[0]}" in the connection string is not supported: `));
    const kept = query.split('&').filter((pair) => !names.includes(pair.split('=')[0] ?? ''));
    const changed = `${address}${kept.join('') === '' ? '' : '?'}${kept.join('&')}${added}`;
    assert.equal(await faultOf(changed), undefined, changed);
  });
}
