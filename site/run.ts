/** `npm run site`: builds the site of the pages into `build/site`, and shows it on loopback. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { readDocument } from '../src/openapi/documents.ts';
import { ICON, readScalarScript, referencePage } from '../src/server/reference-page.ts';
import { giveUp } from '../tools/command.ts';

const HELP = `Usage: npm run site -- [--serve] [--port PORT] [--base PATH]

Builds a site of the pages into build/site. A link or a picture that leads nowhere, and a page that docs/README.md does
not name, is a failure.

  --serve       shows it then on http://127.0.0.1:PORT
  --port PORT   by default 5090
  --base PATH   the path of the site on its host, by default /
`;

const OUT = 'build/site';

const { values } = read();
if (values.help) {
  process.stdout.write(HELP);
} else {
  const { build } = await import('vitepress');
  rmSync(OUT, { recursive: true, force: true });
  await build('site', { base: values.base });
  await addReferences(`${OUT}/reference`);
  if (values.serve) await show(values.base, Number(values.port));
}

function read() {
  try {
    return parseArgs({
      options: {
        help: { type: 'boolean', short: 'h', default: false },
        serve: { type: 'boolean', default: false },
        port: { type: 'string', default: '5090' },
        base: { type: 'string', default: '/' },
      },
    });
  } catch (error) {
    return giveUp(`${(error as Error).message}\n\n${HELP}`, 2);
  }
}

/** The interface of both profiles, by the page that the service has in development; it sends no request. */
async function addReferences(folder: string): Promise<void> {
  mkdirSync(folder);
  writeFileSync(`${folder}/icon.svg`, ICON);
  writeFileSync(`${folder}/api-reference.js`, await readScalarScript());
  for (const profile of ['shared-list', 'error-demo'] as const) {
    const text = readDocument(profile);
    const parts = { document: `${profile}.v1.json`, script: 'api-reference.js', icon: 'icon.svg' };
    writeFileSync(`${folder}/${parts.document}`, text);
    writeFileSync(`${folder}/${profile}.html`, referencePage(text, parts, { hideTestRequestButton: true }));
  }
}

async function show(base: string, port: number): Promise<void> {
  const { preview } = await import('vite');
  const server = await preview({
    root: 'site',
    base,
    configFile: false,
    appType: 'mpa',
    build: { outDir: `../${OUT}` },
    preview: { host: '127.0.0.1', port, strictPort: true },
  }).catch((error: Error) =>
    giveUp(`Cannot show the site: ${error.message}. Choose another one with --port`),
  );
  server.printUrls();
}
