import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';

/** Of a processor, which each of several instances has. */
export const PART = 0.25;

const PERIOD_US = 20_000;
const QUOTA_US = PERIOD_US * PART;

/** Groups of version 2, or those of version 1 that limit processor time. */
const isUnified = existsSync('/sys/fs/cgroup/cgroup.controllers');
const FOLDER = isUnified ? '/sys/fs/cgroup' : '/sys/fs/cgroup/cpu';
const LIMITS = isUnified
  ? { 'cpu.max': `${QUOTA_US} ${PERIOD_US}` }
  : { 'cpu.cfs_period_us': `${PERIOD_US}`, 'cpu.cfs_quota_us': `${QUOTA_US}` };

/** A group of processes that have this part of a processor together, as a container with a limit has. */
export function limitedGroup() {
  const path = `${FOLDER}/todo-bench-${crypto.randomUUID()}`;
  mkdirSync(path);
  const remove = () => rmdirSync(path);
  try {
    for (const [file, value] of Object.entries(LIMITS)) writeFileSync(`${path}/${file}`, value);
  } catch (failure) {
    remove();
    throw failure;
  }
  return {
    add: (pid: number) => writeFileSync(`${path}/cgroup.procs`, `${pid}`),
    [Symbol.dispose]: remove,
  };
}

/** Why this machine has no such groups. */
export function lackOfGroups(): string | undefined {
  try {
    using _ = limitedGroup();
    return undefined;
  } catch (failure) {
    return String(failure);
  }
}
