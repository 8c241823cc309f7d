import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Engine } from './contract.ts';
import { addedTo } from './todos.ts';

/** What an operator does while the list is served. */
export function describeOperator({ open, openOperator, schemaVersion }: Engine): void {
  test('an operator finds the first categories, adds one, and it can be used at once', async () => {
    await using store = await open();
    await using operator = await openOperator();
    assert.deepEqual(await operator.listCategories(), [
      { id: 1, name: 'Work' },
      { id: 2, name: 'Life' },
    ]);
    assert.deepEqual(await operator.addCategory('Gärten \u{1F331}'), { id: 3, name: 'Gärten \u{1F331}' });
    assert.equal((await addedTo(store, 'a', 3)).id, 1);
    assert.deepEqual((await operator.listCategories()).at(-1), { id: 3, name: 'Gärten \u{1F331}' });
  });

  test('a category whose name is taken is not added', async () => {
    await using _store = await open();
    await using operator = await openOperator();
    assert.equal(await operator.addCategory('Work'), 'name-taken');
    assert.equal((await operator.listCategories()).length, 2);
  });

  test('a category gets another name, but not that of another one, nor one that does not exist', async () => {
    await using _store = await open();
    await using operator = await openOperator();
    assert.deepEqual(await operator.renameCategory(1, 'Büro'), { id: 1, name: 'Büro' });
    assert.deepEqual(await operator.renameCategory(1, 'Büro'), { id: 1, name: 'Büro' });
    assert.equal(await operator.renameCategory(1, 'Life'), 'name-taken');
    assert.equal(await operator.renameCategory(3, 'Garden'), 'category-missing');
    assert.deepEqual(await operator.listCategories(), [
      { id: 1, name: 'Büro' },
      { id: 2, name: 'Life' },
    ]);
  });

  test('an inspection says engine, schema version and counts', async () => {
    await using store = await open();
    await addedTo(store, 'a');
    await using operator = await openOperator();
    const { facts } = await operator.inspect();
    assert.match(String(facts.engine), /^(SQLite|PostgreSQL) \d+\./);
    assert.equal(facts['schema version'], schemaVersion);
    assert.equal(facts.categories, 2);
    assert.equal(facts.todos, 1);
  });
}
