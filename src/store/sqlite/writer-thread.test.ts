import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import type { CategoryId, Title } from '../todo.ts';
import { migrate } from './schema.ts';
import { prepareBatches } from './writer-thread.ts';

test('whether the file is still there is looked at when the batch is committed, and before it is acknowledged', () => {
  const folder = mkdtempSync(join(tmpdir(), 'todo-batch-'));
  const path = join(folder, 'todos.db');
  try {
    using database = new DatabaseSync(path);
    migrate(database);
    using other = new DatabaseSync(path);
    const titles: unknown[] = [];
    const commit = prepareBatches(
      database,
      () => {},
      () => {
        titles.push(...other.prepare('SELECT title FROM todos').all());
        return 'it was deleted';
      },
    );
    const todo = { title: 'a' as Title, done: false, categoryId: 1 as CategoryId };
    const added = { kind: 'add', todo, once: undefined } as const;
    assert.deepEqual(commit([added]), { failure: 'unknown', trouble: 'gone', message: 'it was deleted' });
    assert.deepEqual(
      titles.map((row) => Object(row).title),
      ['a'],
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
