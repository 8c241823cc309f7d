import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLibrary } from './schema.ts';

for (const version of ['3.51.3', '3.51.10', '3.53.0', '4.0.0']) {
  test(`a SQLite library ${version} is accepted`, () => {
    assert.doesNotThrow(() => checkLibrary(version));
  });
}

for (const version of ['3.51.2', '3.50.4', '3.9.99', '2.99.99']) {
  test(`a SQLite library ${version} is refused by name`, () => {
    assert.throws(() => checkLibrary(version), {
      message: `the SQLite library must be 3.51.3 or later (an older one can corrupt a WAL), received ${version}`,
    });
  });
}
