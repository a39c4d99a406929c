import { safeNext } from '#/paths.ts'

/**
 * Where to go once a container runs: to `next` when that is inside this very container, else to its front door.
 * Somebody else's link must not use a launch to lead a person to another place.
 * @param serviceUrl the container's address, as the launch answered it: absolute, without a slash at the end
 */
export function landingUrlFor(next: unknown, serviceUrl: string): string {
  const service = new URL(serviceUrl)
  const path = safeNext(next)
  if (path === undefined) return `${serviceUrl}/`
  // The container may have another host than this page. Dots are resolved here, as they would be on the way.
  const wanted = new URL(path, service.origin)
  const isInside = wanted.pathname === service.pathname || wanted.pathname.startsWith(`${service.pathname}/`)
  return isInside ? wanted.href : `${serviceUrl}/`
}
