import { gatewayRefusals } from './gateway-refusals.ts'

/** A raw request target, cut but never decoded: `segment`, `rest` and `query` joined after a `/` give back the same bytes. */
export interface Target {
  /** First path segment, compared whole: `ann-dev` is not the beginning of `ann-development`. */
  readonly segment: string
  /** The path after the segment, from its slash on; empty for the bare prefix. */
  readonly rest: string
  /** From its question mark on; empty when there is none. */
  readonly query: string
}

/**
 * Cuts a raw request target. `new URL` is not used on purpose: it takes `//evil.example/x` for a host,
 * turns backslashes into slashes and resolves `%2e%2e`, each of which has led a proxy into a neighbour's app.
 * @throws {GatewayRefusal} 400 when the target is not a plain path, or leaves its prefix once dots are resolved
 */
export function parseTarget(raw: string): Target {
  if (!/^\/(?!\/)/.test(raw)) throw gatewayRefusals.badTarget('It must be a path that begins with exactly one slash.')
  if (/[^\x21-\x7e\x80-\xff]|#/.test(raw))
    throw gatewayRefusals.badTarget('It holds a character that no address may hold.')
  const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(raw) ?? []
  checkPath(path)
  const [, segment = '', rest = ''] = /^\/([^/]*)(.*)$/s.exec(path) ?? []
  if (climbs(rest)) throw gatewayRefusals.badTarget('Its dots lead out of the container.')
  return { segment, rest, query }
}

// Only the path is held to this: browsers send `?q=100%` and `?file=C:\x` as they are.
function checkPath(path: string): void {
  if (path.includes('\\')) throw gatewayRefusals.badTarget('It holds a backslash.')
  if (/%(?![0-9a-f]{2})|%00/i.test(path))
    throw gatewayRefusals.badTarget('It holds a percent sign that is no valid escape.')
}

/** Whether an app that decodes once and resolves dots would end above its own root. Stricter than any one app: empty segments add no depth. */
function climbs(rest: string): boolean {
  const decoded = rest.replace(/%2e/gi, '.').replace(/%2f/gi, '/').replace(/%5c/gi, '/')
  let depth = 0
  for (const segment of decoded.split('/')) {
    // Servlet containers cut `;parameters` off before they resolve dots, so `..;` climbs too.
    const [name = ''] = segment.split(';', 1)
    if (name === '..') depth -= 1
    else if (name !== '' && name !== '.') depth += 1
    if (depth < 0) return true
  }
  return false
}
