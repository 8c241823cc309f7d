import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkLibrary } from './schema.ts';

for (const version of ['3.44.6', '3.44.10', '3.50.7', '3.51.3', '3.51.10', '3.53.0', '4.0.0']) {
  test(`a SQLite library ${version} is accepted`, () => {
    assert.doesNotThrow(() => checkLibrary(version));
  });
}

for (const version of ['3.51.2', '3.51.0', '3.50.6', '3.49.9', '3.45.0', '3.44.5', '3.9.99', '2.99.99']) {
  test(`a SQLite library ${version} is refused by name`, () => {
    assert.throws(() => checkLibrary(version), {
      message:
        'the SQLite library must be 3.51.3 or later, 3.50.7 or later of 3.50, or 3.44.6 or later of 3.44 (any other ' +
        `can corrupt a WAL), received ${version}`,
    });
  });
}
