/**
 * States of a container that is not blocked. `asleep`: stopped, the next request starts it; `evicted`: ended by its
 * cluster, the next request starts it; `node-lost`: the node that it ran on does not answer; `unknown`: the engine does
 * not respond.
 */
export const unblockedStatuses = [
  'running',
  'paused',
  'asleep',
  'evicted',
  'node-lost',
  'missing',
  'crashed',
  'out-of-memory',
  'no-image',
  'failed',
  'unknown',
] as const
export type UnblockedStatus = (typeof unblockedStatuses)[number]

/** Status in lists of containers for each state: without a reason. */
export const listStatusOf = {
  running: 'running',
  paused: 'paused',
  asleep: 'stopped',
  evicted: 'stopped',
  'node-lost': 'unknown',
  missing: 'missing',
  crashed: 'failed',
  'out-of-memory': 'failed',
  'no-image': 'failed',
  failed: 'failed',
  unknown: 'unknown',
} as const satisfies Readonly<Record<UnblockedStatus, string>>
