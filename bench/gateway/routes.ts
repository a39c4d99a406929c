/**
 * The installation that every proxy gets: user i owns the container `user{i}-dev`, which listens on its own address of
 * 127.1.0.0/16, because no two containers share one. Backends listen at the few that are used.
 */
export interface Route {
  readonly userId: number
  readonly slug: string
  readonly prefix: string
  readonly host: string
}

/** Default number of routes of every proxy. */
export const routeCount = 10_000

export function routes(): Route[] {
  return Array.from({ length: routeCount }, (_, index) => ({
    userId: index + 1,
    slug: `user${index}`,
    prefix: `user${index}-dev`,
    host: `127.1.${index >> 8}.${index & 255}`,
  }))
}

/** This many of the routes, evenly spread, because one of the peers searches linearly. */
export function spread(count: number): Route[] {
  return routes().filter((_, index) => index % (routeCount / count) === 0)
}

/** The routes of plain requests. */
export const busy = spread(10)

/** The routes of WebSockets. */
export const talking = spread(100).filter((route) => !busy.some(({ prefix }) => prefix === route.prefix))
