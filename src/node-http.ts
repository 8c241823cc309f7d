/**
 * `node:http` without the rest of it: an import evaluates every export, and that of `WebSocket` loads all of undici, as much
 * work as everything else that a bare server does to start.
 */
export const { createServer, get, STATUS_CODES } = process.getBuiltinModule('node:http');
