import { safeNext } from '#/safe-next.ts'

/**
 * The URL to open once a container runs: `next` when it is inside this container, else the container's root. A link of
 * another user must not use a launch to lead elsewhere.
 * @param serviceUrl the container's URL as the launch returned it: absolute, without a slash at the end
 */
export function landingUrlFor(next: unknown, serviceUrl: string): string {
  const service = new URL(serviceUrl)
  const path = safeNext(next)
  if (path === undefined) return `${serviceUrl}/`
  // The container may have another host than this page. Dots are resolved here, as the browser would.
  const wanted = new URL(path, service.origin)
  const isInside = wanted.pathname === service.pathname || wanted.pathname.startsWith(`${service.pathname}/`)
  return isInside ? wanted.href : `${serviceUrl}/`
}
