import type { ContainerEntry } from '@berth/api/schemas/user.ts'
import { safeNext } from '#/safe-next.ts'

/** Where Open leads. */
export const openUrlOf = ({
  service_url: url,
  open_path: path = '',
}: Pick<ContainerEntry, 'service_url' | 'open_path'>) => `${url}/${path}`

/**
 * The URL to open once a container runs: `next` when it is inside this container, else where Open leads. A link of
 * another user must not use a launch to lead elsewhere.
 * @param container as the launch returned it: `service_url` is absolute, without a slash at the end
 */
export function landingUrlFor(next: unknown, container: Pick<ContainerEntry, 'service_url' | 'open_path'>): string {
  const service = new URL(container.service_url)
  const path = safeNext(next)
  if (path === undefined) return openUrlOf(container)
  // The container may have another host than this page. Dots are resolved here, as the browser would.
  const wanted = new URL(path, service.origin)
  const isInside = wanted.pathname === service.pathname || wanted.pathname.startsWith(`${service.pathname}/`)
  return isInside ? wanted.href : openUrlOf(container)
}
