/** The manifests of docs/, as the schemas of Kubernetes' API, of the Prometheus Operator and of Compose have them. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';

/** Where each kind's type and schema are. */
const PACKAGES: Readonly<Record<string, string>> = {
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator/',
};

/**
 * Writes a program that the compiler refuses when an object has a member or a type that its kind has not, and that
 * throws when a value does not fit the schema. It has the objects twice: as they stand, and with what is commented out.
 */
export async function writeManifests(manifest: URL, program: URL): Promise<void> {
  const text = await readFile(manifest, 'utf8');
  const all = withCommented(text);
  if (all === text) throw new Error('Nothing is commented out');
  const objects = [text, all].flatMap((each) => parseAllDocuments(each).map((document) => document.toJS()));
  const parts = objects.map((object, index) => {
    const { apiVersion, kind } = object;
    const [group = ''] = apiVersion.split('/');
    const from = `${PACKAGES[group] ?? 'kubernetes-models/'}${apiVersion}`;
    return `import { type I${kind} as I${index}, ${kind} as K${index} } from '${from}';
const o${index}: I${index} = ${JSON.stringify(object, undefined, 2)};
new K${index}(o${index}).validate();
`;
  });
  await mkdir(new URL('.', program), { recursive: true });
  await writeFile(program, parts.join('\n'));
}

/** Lines that are examples to be used: an indented comment that begins an element of a list, and what follows it further in. */
function withCommented(text: string): string {
  return text.replace(/^( +)# (?=(?:- | {2})\S)/gm, '$1');
}
