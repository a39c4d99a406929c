import type { Story } from './story.ts'

/** Pages of people who are not signed in, and what can stand on any page. */
export const frameStories: readonly Story[] = [
  { name: 'sign-in/empty', path: '/login', boot: { signed_in: false, csrf: null } },
  { name: 'not-found/signed-out', path: '/no-such-page', boot: { signed_in: false, csrf: null } },
]
