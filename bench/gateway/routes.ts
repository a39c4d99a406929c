/**
 * The installation that every proxy is told: person i owns the container `user{i}-dev`, which listens on an address of its
 * own out of 127.1.0.0/16, because no two containers share one. At the few that are used, the backends listen.
 */
export interface Route {
  readonly userId: number
  readonly slug: string
  readonly prefix: string
  readonly host: string
}

/** How many routes every proxy has, when nothing else is said. */
export const routeCount = 10_000

export function routes(): Route[] {
  return Array.from({ length: routeCount }, (_, index) => ({
    userId: index + 1,
    slug: `user${index}`,
    prefix: `user${index}-dev`,
    host: `127.1.${index >> 8}.${index & 255}`,
  }))
}

/** So many of the routes, evenly spread, because one of the peers looks for a route from the first to the last. */
export function spread(count: number): Route[] {
  return routes().filter((_, index) => index % (routeCount / count) === 0)
}

/** The routes that plain requests are sent to. */
export const busy = spread(10)

/** The routes that WebSockets are opened at. */
export const talking = spread(100).filter((route) => !busy.some(({ prefix }) => prefix === route.prefix))
