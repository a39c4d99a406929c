/** Requests of the load, and how often each comes in a hundred. */

export interface Target {
  readonly path: string
  readonly weight: number
  /** Asked with the administrator's token, and otherwise with a user's. */
  readonly isAdmin?: true
}

/**
 * Visits of users and of an administrator: each visit loads the document of the page and asks for the account and the list of
 * containers; programs ask for the status; scripts are asked for by browsers that come for the first time.
 */
export const mix = (script: string): readonly Target[] => [
  { path: '/api/user/me', weight: 30 },
  { path: '/api/user/containers', weight: 25 },
  { path: '/api/container/status', weight: 10 },
  { path: '/api/groups', weight: 5 },
  { path: '/api/admin/users', weight: 10, isAdmin: true },
  { path: '/api/admin/audit', weight: 5, isAdmin: true },
  { path: '/api/admin/groups', weight: 3, isAdmin: true },
  { path: '/', weight: 9 },
  { path: script, weight: 3 },
]

/** The requests of one turn, each as often as its weight says, spread evenly. */
export function turnOf(targets: readonly Target[]): Target[] {
  const all = targets.flatMap((target) =>
    Array.from({ length: target.weight }, (_, index) => ({ target, at: (index + 0.5) / target.weight })),
  )
  return all.toSorted((one, other) => one.at - other.at).map(({ target }) => target)
}
