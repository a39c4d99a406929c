import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect, isIP, type Server, type Socket } from 'node:net'
import path from 'node:path'

/**
 * A network namespace for Chromium. Chromium gives up every open request with ERR_NETWORK_CHANGED when an address of its
 * machine changes, which each container network that a test makes or removes does: a journey then failed in every tenth run.
 * In a namespace of its own nothing changes. Its only way out is a SOCKS proxy (RFC 1928) of this process, to this machine.
 */

/** How Chromium is started so that it is in the namespace. */
export interface BrowserNetwork {
  readonly executablePath: string
  /** Before the arguments of Chromium itself. */
  readonly args: readonly string[]
  readonly env: Record<string, string>
}

const inNamespace = path.join(import.meta.dirname, 'browser-in-namespace.sh')
const namespaceHolder = path.join(import.meta.dirname, 'browser-namespace.ts')

/** In ms. */
const startTimeout = 10_000

let network: Promise<BrowserNetwork> | undefined

/**
 * The namespace of this process, made when first asked for; it ends with the process. A user who may make none, as one who is
 * not root, gets Chromium in the machine's own network.
 */
export function browserNetwork(chromium: string): Promise<BrowserNetwork> {
  network ??= makeNamespace(chromium).catch(() => ({ executablePath: chromium, args: [], env: {} }))
  return network
}

async function makeNamespace(chromium: string): Promise<BrowserNetwork> {
  // `unshare --net node browser-namespace.ts`; pipes to it would keep this process alive.
  const started = { execPath: 'unshare', execArgv: ['--net', process.execPath] }
  const holder = fork(namespaceHolder, { ...started, stdio: ['ignore', 'ignore', 'ignore', 'ipc'] })
  const [port, proxy] = await listening(holder)
  proxy.on('connection', (socket) => void serve(socket).catch(() => socket.destroy()))
  proxy.unref()
  // The namespace is needed as long as this process is; neither keeps the other alive.
  holder.unref()
  holder.channel?.unref()
  return {
    executablePath: inNamespace,
    args: [`--proxy-server=socks5://127.0.0.1:${port}`, '--proxy-bypass-list=<-loopback>'],
    env: { BERTH_BROWSER: chromium, BERTH_BROWSER_NETWORK: `/proc/${holder.pid}/ns/net` },
  }
}

/** The socket that the holder listens on inside the namespace, and its port. Throws when the holder cannot be started. */
async function listening(holder: ChildProcess): Promise<[number, Server]> {
  const signal = AbortSignal.timeout(startTimeout)
  const ended = once(holder, 'exit', { signal }).then(() => Promise.reject(new Error('No namespace can be made.')))
  try {
    return (await Promise.race([once(holder, 'message', { signal }), ended])) as [number, Server]
  } finally {
    ended.catch(() => undefined)
  }
}

/** Connects one client where it asks to. Throws for anything but CONNECT without a password, which is all that Chromium sends. */
async function serve(client: Socket): Promise<void> {
  client.on('error', () => client.destroy())
  const greeting = await read(client)
  if (greeting[0] !== 5) throw new Error('not SOCKS 5')
  client.write(Buffer.from([5, 0]))
  const request = await read(client)
  if (request[1] !== 1) throw new Error('not CONNECT')
  const upstream = connect(targetOf(request))
  upstream.on('error', () => client.destroy())
  await once(upstream, 'connect')
  client.setNoDelay(true)
  upstream.setNoDelay(true)
  client.write(Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]))
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroy())
  client.pipe(upstream)
  upstream.pipe(client)
}

async function read(client: Socket): Promise<Buffer> {
  const arrived = once(client, 'data')
  client.resume()
  const [chunk] = await arrived
  client.pause()
  return chunk
}

/** RFC 1928 section 4. A name leads to this machine, whatever it is: names below `localhost` do, and no other is asked for. */
function targetOf(request: Buffer): { host: string; port: number } {
  const port = request.readUInt16BE(request.length - 2)
  const address = request.subarray(4, -2)
  if (request[3] === 1) return { host: address.join('.'), port }
  if (request[3] === 4) return { host: '::1', port }
  const name = address.subarray(1).toString()
  return { host: isIP(name) === 0 ? '127.0.0.1' : name, port }
}
