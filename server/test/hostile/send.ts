import { connect } from 'node:net'

/** A request, byte for byte; all text is sent as Latin-1 except the body, which is UTF-8 unless it is bytes. */
export interface Bytes {
  /** Everything before the empty line, without `Host` and `Connection`, each line without its break. */
  readonly head: readonly string[]
  readonly body?: string | Buffer | undefined
}

export interface Answer {
  /** 0 when the connection was ended without one. */
  readonly status: number
  /** Names in lower case; of several lines the last. */
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Longest wait for an answer, in ms. */
const timeout = 20_000

/** Sends it on a connection of its own and reads the answer to its end; of a stream only the head. @throws when none ends in time */
export async function send(port: number, { head, body }: Bytes): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>()
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  const overdue = setTimeout(() => {
    socket.destroy()
    reject(new Error(`no answer within ${timeout} ms: ${head[0]?.slice(0, 200)}`))
  }, timeout)
  const end = () => {
    clearTimeout(overdue)
    socket.destroy()
    resolve(read(Buffer.concat(chunks)))
  }
  // A server that has answered may end the connection while we still write.
  socket.on('error', end).on('close', end)
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    if (isStream(chunk) || isWhole(Buffer.concat(chunks), head[0])) end()
  })
  socket.write(Buffer.from(`${[...head, 'Host: 127.0.0.1', 'Connection: close'].join('\r\n')}\r\n\r\n`, 'latin1'))
  if (body !== undefined) socket.write(body)
  return promise
}

const isStream = (chunk: Buffer) => chunk.includes('text/event-stream')

/** Whether all of an answer with a length is there. */
function isWhole(bytes: Buffer, line = ''): boolean {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return false
  const head = bytes.subarray(0, end).toString('latin1')
  if (/^HTTP\/1\.1 1\d\d /.test(head)) return false
  const [, length] = /^content-length: *(\d+)/im.exec(head) ?? []
  return length !== undefined && (line.startsWith('HEAD ') || bytes.length >= end + 4 + Number(length))
}

function read(bytes: Buffer): Answer {
  let text = bytes.toString('latin1')
  // 100 Continue is no answer yet.
  text = text.replace(/^(HTTP\/1\.1 1\d\d [^]*?\r\n\r\n)+/, '')
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, Math.max(0, end)).split('\r\n')
  const [, status] = /^HTTP\/1\.1 (\d{3})/.exec(first) ?? []
  const headers = Object.fromEntries(
    lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  const raw = text.slice(end + 4)
  const body = headers['transfer-encoding'] === 'chunked' ? withoutChunks(raw) : raw
  return { status: Number(status ?? 0), headers, text: Buffer.from(body, 'latin1').toString() }
}

function withoutChunks(raw: string): string {
  let [rest, text] = [raw, '']
  for (;;) {
    const size = parseInt(rest, 16)
    if (!(size > 0)) return text
    const start = rest.indexOf('\r\n') + 2
    text += rest.slice(start, start + size)
    rest = rest.slice(start + size + 2)
  }
}
