import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import spectral, { type RulesetDefinition } from '@stoplight/spectral-core';
import parsers from '@stoplight/spectral-parsers';
import rulesets from '@stoplight/spectral-rulesets';

// Spectral's own declaration of its rules is not what its linter declares to take.
const oas: RulesetDefinition = Object.assign({ extends: [] }, rulesets.oas);

/**
 * Spectral's rules for OpenAPI find exactly what is expected: `rule at path`. The endpoint of the error demo that always
 * fails lists no success, as its description says.
 */
export async function lint(document: URL, expected: readonly string[]): Promise<void> {
  const linter = new spectral.Spectral();
  linter.setRuleset({ extends: [[oas, 'recommended']] });
  const text = await readFile(document, 'utf8');
  const found = await linter.run(new spectral.Document(text, parsers.Json, document.pathname));
  assert.deepEqual(
    found.map(({ code, path }) => `${code} at ${path.join('.')}`),
    expected,
  );
}
