import { readAsset } from '../lib/assets.ts';

const FILES = {
  'shared-list': new URL('./shared-list.v1.json', import.meta.url),
  'error-demo': new URL('./error-demo.v1.json', import.meta.url),
};

export type Documented = keyof typeof FILES;

export function isDocumented(profile: string): profile is Documented {
  return Object.hasOwn(FILES, profile);
}

/** The text of the OpenAPI 3.1 document of a profile: a file written by hand, served, printed and compiled as it is. */
export function readDocument(profile: Documented): string {
  return readAsset(FILES[profile]);
}
