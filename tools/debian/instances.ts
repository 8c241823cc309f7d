/** What an instance has in place of a line of the one unit. All other lines are the same. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  '# A hardened unit for systemd. The Debian package brings it, with the user and the files that it names.': [
    '# One of up to nine instances on one machine, which share PostgreSQL: systemctl enable --now todo-service@1',
    '# All else is as in todo-service.service, of which this is made.',
  ],
  'Description=Todo Service': [
    'Description=Todo Service, instance %i',
    'Conflicts=todo-service.service todo-service.socket',
  ],
  'ExecStart=/usr/bin/todo-service serve': [
    '# The ports of its number, whatever the file of variables says: 5081 and 9191 for instance 1.',
    'ExecStart=/usr/bin/env TODO_PORT=508%i TODO_ADMIN_PORT=919%i /usr/lib/todo-service/instance %i',
  ],
  'Environment=TODO_ADMIN_PORT=9090': [],
  '# Nor does the next connection to todo-service.socket start it: it is refused.': [],
  "ExecStopPost=+/bin/sh -c 'case $$EXIT_STATUS in 2|65|78) exec systemctl --no-block stop todo-service.socket; esac'":
    [],
  'ExecStartPost=-/usr/bin/todo-service healthcheck --live': [
    'ExecStartPost=-/usr/bin/env TODO_ADMIN_PORT=919%i /usr/bin/todo-service healthcheck --live',
  ],
};

/**
 * The unit `todo-service@.service`, made of the text of `todo-service.service`.
 *
 * @throws Error when that lacks a line that an instance has in another way.
 */
export function instanceUnitOf(unit: string): string {
  const lines = unit.split('\n');
  for (const line of Object.keys(CHANGES))
    if (!lines.includes(line)) throw new Error(`deploy/todo-service.service must have the line "${line}"`);
  return lines.flatMap((line) => CHANGES[line] ?? [line]).join('\n');
}
