import { createHook } from 'node:async_hooks';

/** `node:http` without its export `WebSocket`, which loads all of undici: as much as the start of a bare server. */
export const { createServer, get, STATUS_CODES } = process.getBuiltinModule('node:http');

/** Milliseconds for each address of a name: a lost SYN is sent again after a second, and Node.js gives 500. */
export const CONNECT = { autoSelectFamilyAttemptTimeout: 1250 };

/**
 * One tick of `process.nextTick`, kept for the life of the process. A garbage collection during the start that finds no
 * tick makes V8 forget their hidden class, and all later ticks are slower: one todo takes 14.0 µs with it and 15.0
 * without (medians of seven starts of each side; another time 12.8 and 14.2).
 */
const kept: object[] = [];
const hook = createHook({ init: (_id, _type, _trigger, tick) => kept.push(tick), trackPromises: false });
hook.enable();
process.nextTick(() => {});
hook.disable();
