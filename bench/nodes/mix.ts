/** Requests of the load, and how often each comes in a hundred. */

export interface Target {
  readonly path: string
  /** In a hundred of `mixes.reads`, and of `mixes.days`. */
  readonly reads: number
  readonly days: number
  /** `GET` when left out. */
  readonly method?: 'POST'
  /** Asked with the administrator's token, and otherwise with a user's. */
  readonly isAdmin?: true
  /** An event stream: the connection is closed after the first event. */
  readonly isStream?: true
}

/**
 * Two mixes. `reads`: visits of users and of an administrator, those that each node answers. `days`: what an open dashboard does
 * in ten minutes, with what the leader alone answers: the document, the account, groups and shared containers once, one event
 * stream, the list of containers each minute, and a container that is opened (a launch of one that runs), beside sign-ins,
 * administrators and scripts.
 */
export const targets = (script: string): readonly Target[] => [
  { path: '/api/user/me', reads: 30, days: 7 },
  { path: '/api/user/containers', reads: 25, days: 53 },
  { path: '/api/container/status', reads: 10, days: 3 },
  { path: '/api/groups', reads: 5, days: 6 },
  { path: '/api/user/shared', reads: 0, days: 6 },
  { path: '/api/admin/users', reads: 10, days: 1, isAdmin: true },
  { path: '/api/admin/audit', reads: 5, days: 1, isAdmin: true },
  { path: '/api/admin/groups', reads: 3, days: 0, isAdmin: true },
  { path: '/', reads: 9, days: 6 },
  { path: script, reads: 3, days: 4 },
  { path: '/api/container/events', reads: 0, days: 6, isStream: true },
  { path: '/api/user/sessions', reads: 0, days: 1 },
  { path: '/api/admin/system', reads: 0, days: 1, isAdmin: true },
  { path: '/api/container/launch/dev', reads: 0, days: 5, method: 'POST' },
]

/** The requests of one turn, each as often as its weight says, spread evenly. */
export function turnOf(all: readonly Target[]): Target[] {
  const spread = all.flatMap((target) =>
    Array.from({ length: target.reads }, (_, index) => ({ target, at: (index + 0.5) / target.reads })),
  )
  return spread.toSorted((one, other) => one.at - other.at).map(({ target }) => target)
}
