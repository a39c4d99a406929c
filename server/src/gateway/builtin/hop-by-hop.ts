/** One header line: name as received, value. */
export type HeaderLine = [name: string, value: string]

// RFC 9110, 7.6.1, and what older programs treat alike. `expect` is here because Node has answered it already.
const hopByHop = new Set([
  'connection',
  'expect',
  'http2-settings',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/**
 * The lines of `rawHeaders` that are meant for the other end, in order, repeated names repeated.
 * Lines named by `Connection` go too; who names `X-Forwarded-For` there loses only a line that is set again afterwards.
 */
export function endToEndLines(rawHeaders: readonly string[]): HeaderLine[] {
  const lines = headerLines(rawHeaders)
  const named = new Set(
    lines.filter(([name]) => name.toLowerCase() === 'connection').flatMap(([, value]) => tokens(value)),
  )
  return lines.filter(([name]) => !hopByHop.has(name.toLowerCase()) && !named.has(name.toLowerCase()))
}

/** Node's flat list (name, value, name, value) in pairs. */
export function headerLines(rawHeaders: readonly string[]): HeaderLine[] {
  const lines: HeaderLine[] = []
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    lines.push([rawHeaders[index] ?? '', rawHeaders[index + 1] ?? ''])
  }
  return lines
}

function tokens(list: string): string[] {
  return list.split(',').map((token) => token.trim().toLowerCase())
}
