import { createHook } from 'node:async_hooks';

/**
 * `node:http` without the rest of it: an import evaluates every export, and that of `WebSocket` loads all of undici, as much
 * work as everything else that a bare server does to start.
 */
export const { createServer, get, STATUS_CODES } = process.getBuiltinModule('node:http');

/**
 * One tick of `process.nextTick`, kept for as long as the process lives. A collection of garbage during the start that meets
 * none makes V8 forget their hidden class, and all later ones are slower: 1.3 µs for the three of a request.
 */
const kept: object[] = [];
const hook = createHook({ init: (_id, _type, _trigger, tick) => kept.push(tick), trackPromises: false });
hook.enable();
process.nextTick(() => {});
hook.disable();
