import type { Address } from '../http/transport/listeners.ts';
import type { Settings } from '../settings.ts';

/** Where the admin listener listens; undefined when nobody asked for one. */
export function readAdmin(settings: Settings): Address | undefined {
  if (settings.text('TODO_ADMIN_PORT') === undefined) return undefined;
  return {
    host: settings.host('TODO_ADMIN_HOST', '127.0.0.1'),
    port: settings.whole('TODO_ADMIN_PORT', { from: 0, to: 65_535, otherwise: 0 }),
  };
}
