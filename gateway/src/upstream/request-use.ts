import { isHtmlNavigation, isWindowNavigation } from '#/http1/browser-request.ts'
import type { RequestHead } from '#/http1/request-head.ts'
import type { RequestPath } from '#/http1/request-path.ts'
import type { TypeRules } from '#/port/gateway.ts'
import type { RequestUse } from './upstream.ts'

/** What a request to a container of this type counts as. Costs nothing where the type has no rules about use. */
export function requestUse(rules: TypeRules, head: RequestHead, path: RequestPath): RequestUse {
  const { ignoredPaths, isAskedForUse } = rules
  if (ignoredPaths?.some((pattern) => matches(pattern, path.rest))) return 'none'
  return isAskedForUse && isHtmlNavigation(head) && isWindowNavigation(head.text) ? 'navigation' : 'traffic'
}

/** @param pattern path below the container's address; `*` at its end stands for any rest @param rest begins with a slash, or is empty */
function matches(pattern: string, rest: string): boolean {
  return pattern.endsWith('*') ? rest.startsWith(pattern.slice(0, -1)) : rest === pattern
}
