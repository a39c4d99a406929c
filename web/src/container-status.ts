import type { ContainerEntry } from '@berth/api/user.ts'

/** How a status looks; the word beside it says the same. */
export type Tone = 'good' | 'idle' | 'busy' | 'bad'

export interface StatusView {
  readonly word: string
  readonly tone: Tone
  /** What it means for the person, where the word alone does not say. */
  readonly hint?: string
}

/** Specification, Container runtime status values, and the words of Docker's and Podman's engines. */
const views: Readonly<Record<string, StatusView>> = {
  not_created: { word: 'Not launched yet', tone: 'idle' },
  running: { word: 'Running', tone: 'good' },
  created: { word: 'Stopped', tone: 'idle' },
  exited: { word: 'Stopped', tone: 'idle' },
  paused: { word: 'Paused', tone: 'idle' },
  restarting: { word: 'Restarting', tone: 'busy' },
  removing: { word: 'Being removed', tone: 'busy' },
  dead: { word: 'Broken', tone: 'bad', hint: 'Launch replaces it by a new one. Your home files stay.' },
  not_found: { word: 'Missing', tone: 'idle', hint: 'Launch makes a new one. Your home files stay.' },
  error: { word: 'Status unknown', tone: 'bad', hint: 'The container engine does not answer at the moment.' },
}

/** A container's status in words. A block comes first: whatever the engine reports, nothing can be launched. */
export function statusView(entry: Pick<ContainerEntry, 'status' | 'is_blocked'>): StatusView {
  if (entry.is_blocked) return { word: 'Blocked', tone: 'bad' }
  return Object.hasOwn(views, entry.status) ? views[entry.status]! : { word: entry.status, tone: 'idle' }
}

/** What a person can do with a container. Restart replaces, so it needs something to replace. Reading is never forbidden. */
export function actionsFor(entry: Pick<ContainerEntry, 'status' | 'is_blocked' | 'container_id'>, canRestart: boolean) {
  const isRunning = entry.status === 'running'
  return {
    open: isRunning && !entry.is_blocked,
    launch: !isRunning && !entry.is_blocked,
    restart: canRestart && !entry.is_blocked && entry.container_id !== null,
    readLogs: entry.container_id !== null && entry.status !== 'not_found',
  }
}
