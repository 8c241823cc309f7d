import assert from 'node:assert/strict';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EXTRACT, must } from './system.ts';

/** What an engine makes of the image: https://github.com/opencontainers/image-spec/blob/main/config.md */
export interface ImageConfig {
  readonly User: string;
  readonly Env: readonly string[];
  readonly Entrypoint: readonly string[];
  readonly Cmd: readonly string[];
  readonly Labels: Readonly<Record<string, string>>;
  readonly Volumes: Readonly<Record<string, object>>;
  readonly ExposedPorts: Readonly<Record<string, object>>;
}

interface Descriptor {
  readonly digest: string;
}

/** Unpacks the layers of an OCI archive into `root`, as an engine does, and gives the configuration. */
export async function unpackImage(archive: string, folder: string, root: string): Promise<ImageConfig> {
  const layout = join(folder, 'layout');
  await untar(archive, layout);
  const blob = ({ digest }: Descriptor) => join(layout, 'blobs', ...digest.split(':'));
  const parse = async (file: string) => JSON.parse(await readFile(file, 'utf8'));
  const { manifests }: { manifests: Descriptor[] } = await parse(join(layout, 'index.json'));
  const [first] = manifests;
  assert.ok(first);
  let image = await parse(blob(first));
  // Some engines keep an image behind a list of one.
  while ('manifests' in image) image = await parse(blob(image.manifests[0]));
  const { config, layers }: { config: Descriptor; layers: Descriptor[] } = image;
  for (const layer of layers) await untar(blob(layer), root);
  return (await parse(blob(config))).config;
}

async function untar(archive: string, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  await must('tar', ...EXTRACT, '--file', archive, '--directory', folder);
}
