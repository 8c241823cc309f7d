/**
 * `tools/runtime/node test/package/other-node.ts oldest|latest`: puts another Node.js into the place of the pinned one, which
 * runs this and everything else of this checkout. `npm ci` brings the pinned one back.
 */
import { copyFileSync, globSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../support/folder.ts';
import { installNode, project } from './npm.ts';

const [which = ''] = process.argv.slice(2);
if (which !== 'oldest' && which !== 'latest') throw new Error(`oldest or latest, not "${which}"`);
const [pinned] = globSync('node_modules/node-*/bin/node', { cwd: project });
if (pinned === undefined) throw new Error('There is no pinned Node.js: npm ci brings it');
await using folder = await temporaryFolder();
const programs = await installNode(folder.path, which);
const place = join(project, pinned);
// A file that runs cannot be written, but gives away its name.
copyFileSync(join(programs, 'node'), `${place}.other`);
renameSync(`${place}.other`, place);
