import { Counter, Gauge, type Registry } from 'prom-client';
import type { SocketFigures } from '../http/transport/listeners.ts';

/** Reads the figures of a listener when somebody asks for the metrics. */
export type WatchListener = (listener: 'public' | 'admin', figures: () => SocketFigures) => void;

/** Sockets by listener. */
export function registerListeners(registry: Registry): WatchListener {
  const listeners = new Map<string, () => SocketFigures>();
  const about = (name: string, help: string) => ({
    name,
    help,
    labelNames: ['listener'],
    registers: [registry],
  });
  new Gauge({
    ...about('todo_open_connections', 'Open sockets.'),
    collect() {
      for (const [listener, figures] of listeners) this.set({ listener }, figures().open);
    },
  });
  new Gauge({
    ...about('todo_connections_limit', 'Sockets that may be open at a time.'),
    collect() {
      for (const [listener, figures] of listeners) this.set({ listener }, figures().limit);
    },
  });
  new Counter({
    ...about('todo_connections_refused_total', 'Sockets that were closed at once, beyond the limit.'),
    collect() {
      this.reset();
      for (const [listener, figures] of listeners) this.inc({ listener }, figures().dropped);
    },
  });
  return (listener, figures) => listeners.set(listener, figures);
}
