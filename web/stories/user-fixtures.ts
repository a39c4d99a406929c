import type { Answer } from '@berth/api/endpoints.ts'
import type { ContainerEntry } from '@berth/api/schemas/user.ts'

/** The time at which all stories take place; tests set the clock of the page to it. */
export const today = '2026-11-21T09:00:00.000Z'

/** @returns that many minutes before `today`; a negative number is in the future */
export const minutesAgo = (minutes: number) => new Date(Date.parse(today) - minutes * 60_000).toISOString()

/** An ordinary user. */
export const ann: Answer<'me'> = {
  user: {
    id: 12,
    email: 'ann@example.org',
    slug: 'ann',
    is_admin: false,
    state: 'active',
    last_used: minutesAgo(30),
    created_at: minutesAgo(60 * 24 * 40),
  },
  container: { id: 'c1', port: 8080, status: 'running', service_url: 'http://spawner.berth.localhost:8080/ann' },
}

/** An administrator. */
export const ada: Answer<'me'> = {
  ...ann,
  user: { ...ann.user, id: 1, email: 'ada@example.org', slug: 'ada', is_admin: true },
}

/** A container of Ann's, as her list returns it. */
export function containerEntry(
  type: string,
  name: string,
  description: string,
  more: Partial<ContainerEntry> = {},
): ContainerEntry {
  return {
    type,
    display_name: name,
    description,
    status: 'running',
    service_url: `http://spawner.berth.localhost:8080/ann-${type}`,
    home: 'type',
    container_id: `c-${type}`,
    created_at: minutesAgo(60 * 24 * 40),
    last_used: minutesAgo(30),
    is_blocked: false,
    blocked_at: null,
    ...more,
  }
}

/** Ann's container of the type `dev`. */
export const developmentEntry = (more?: Partial<ContainerEntry>) =>
  containerEntry('dev', 'Development', 'An editor, a terminal and your files', { icon: 'code', ...more })
