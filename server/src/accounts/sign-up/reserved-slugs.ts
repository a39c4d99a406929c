import { endpoints } from '@berth/api/endpoints.ts'
import { pages } from '@berth/web/paths.ts'

/** Paths that are no rows of a table, and words kept back for pages to come. */
const others = [
  '/assets/',
  '/metrics',
  '/admin',
  '/account',
  '/settings',
  '/static',
  '/ws',
  '/help',
  '/docs',
  '/status',
]

/**
 * What no slug may be: the first part, up to a hyphen, of every path that the API or the front end answers.
 * A user with the slug `verify` and a type `signup` would otherwise own the page that mails link to.
 */
export const reservedSlugs: ReadonlySet<string> = new Set(
  [...Object.values(endpoints).map(({ path }) => path), ...Object.values(pages), ...others]
    .map((path) => /^\/([a-z0-9]+)/.exec(path)?.[1] ?? '')
    .filter((slug) => slug !== ''),
)
