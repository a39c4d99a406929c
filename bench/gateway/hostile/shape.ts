/** A kind of request that a client without an account may send, however unusual. */
export interface Shape {
  readonly name: string
  /** The next request of its kind, as written to the connection, in one or several pieces. */
  readonly next: () => string | readonly string[]
  /** Bytes of a body cost what they cost, however few there are in the head: measured once, without a goal. */
  readonly isBody?: true
}

/** Max size of a header that fits into a head of 32 KB beside its other lines. */
export const room = 31_000

/** A text again and again, up to a length in characters. */
export const repeated = (text: string, length = room) => text.repeat(Math.floor(length / text.length))

/** Headers of a navigation. */
export const browser = [
  'Accept: text/html,*/*',
  'Sec-Fetch-Mode: navigate',
  'Sec-Fetch-Dest: document',
  'Sec-Fetch-Site: none',
]

/** A request without a body. */
export const head = (
  path: string,
  lines: readonly string[] = [],
  method = 'GET',
  host = 'spawner.berth.localhost:8080',
) => `${[`${method} ${path} HTTP/1.1`, `Host: ${host}`, ...lines].join('\r\n')}\r\n\r\n`

/** The same request each time. */
export const same = (
  name: string,
  path: string,
  lines: readonly string[] = [],
  method = 'GET',
  host?: string,
): Shape => {
  const text = head(path, lines, method, host)
  return { name, next: () => text }
}
