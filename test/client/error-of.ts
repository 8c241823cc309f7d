import assert from 'node:assert/strict';
import { TodoError } from '../../client/src/client.ts';

/** The error that a call ends with. */
export async function errorOf(call: Promise<unknown>): Promise<TodoError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof TodoError, String(error));
    return error;
  }
  return assert.fail('it succeeded');
}
