import { spawn, type ChildProcess } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { accessSync, chownSync, constants, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'

/** A running browser without a window. */
export interface Chromium {
  readonly devtools: DevtoolsPipe
  /** Name and version, such as `Chrome/150.0.7871.100`. */
  readonly version: string
  /** Whether the sandbox of the browser holds its pages; it cannot where the kernel gives accounts no namespaces. */
  readonly isSandboxed: boolean
  /** Ends it, by force after a moment, and removes its profile. Never fails. */
  close(): Promise<void>
}

/** Programs that speak the protocol, in the order in which they are looked for. */
const programs = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome', 'microsoft-edge']
/** How long it may take to end by itself, in ms. */
const endTimeout = 3_000

/** The first browser in the folders of a `PATH`; undefined when there is none. */
export function findChromium(folders: string): string | undefined {
  const candidates = programs.flatMap((name) => folders.split(':').map((folder) => path.join(folder, name)))
  return candidates.find((file) => isProgram(file))
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return path.isAbsolute(file)
  } catch {
    return false
  }
}

export interface ChromiumOptions {
  readonly executable: string
  /** Suffix of the hosts that lead to the trial; every other name and address leads nowhere. */
  readonly host: string
  /** Of the trial's gateway on the loopback interface, whatever port an address names. */
  readonly port: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * The account of the browser when root starts it: one that has no files and no other processes. Its sandbox cannot be made by root.
 * Source: the range in which systemd chooses users of services (systemd.exec, DynamicUser).
 */
const accountForRoot = () => (process.getuid?.() === 0 ? { uid: randomInt(61_184, 65_520), gid: 65_534 } : undefined)

/** Root's own folder for temporary files may be closed to other accounts, as with libpam-tmpdir. */
function mayOthersEnter(folder: string): boolean {
  const above = path.dirname(folder)
  return (statSync(folder).mode & 0o001) !== 0 && (above === folder || mayOthersEnter(above))
}

/**
 * Starts it. A page in it reaches the trial alone, so that an image that is tried cannot use the network of the operator.
 * @throws {Error} with its last words when it does not start
 */
export async function startChromium(options: ChromiumOptions): Promise<Chromium> {
  return launch(options, true).catch(() => launch(options, false))
}

async function launch({ executable, host, port, env }: ChromiumOptions, isSandboxed: boolean): Promise<Chromium> {
  const account = accountForRoot()
  const parent = !account || mayOthersEnter(tmpdir()) ? tmpdir() : '/tmp'
  const folder = mkdtempSync(path.join(parent, 'berth-browser-'))
  if (account) chownSync(folder, account.uid, account.gid)
  const rules = [`MAP ${host} 127.0.0.1:${port}`, `MAP *.${host} 127.0.0.1:${port}`, 'MAP * ~NOTFOUND']
  const args = [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    `--host-resolver-rules=${rules.join(', ')}`,
    ...(isSandboxed ? [] : ['--no-sandbox']),
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-default-apps',
    '--disable-sync',
    '--disable-breakpad',
    '--no-first-run',
    '--no-proxy-server',
    '--mute-audio',
    '--window-size=1280,800',
    'about:blank',
  ]
  const stdio = ['ignore', 'ignore', 'pipe', 'pipe', 'pipe'] as const
  const child = spawn(executable, args, {
    stdio: [...stdio],
    env: { ...env, HOME: folder, TMPDIR: folder },
    ...account,
  })
  const [words, devtools] = [lastWordsOf(child), pipeOf(child)]
  child.on('error', (error) => devtools.close(error))
  const close = async () => {
    await end(child, devtools)
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
  try {
    const { product } = await devtools.send<{ product: string }>('Browser.getVersion')
    return { devtools, version: product, isSandboxed, close }
  } catch (error) {
    await close()
    throw new Error(`${executable} could not be started: ${words() || (error as Error).message}`, { cause: error })
  }
}

function pipeOf({ stdio }: ChildProcess): DevtoolsPipe {
  return new DevtoolsPipe(stdio[3] as Writable, stdio[4] as Readable)
}

function lastWordsOf({ stderr }: ChildProcess): () => string {
  let text = ''
  stderr?.on('data', (chunk: Buffer) => (text = (text + chunk.toString()).slice(-500)))
  return () => text.trim().split('\n').at(-1) ?? ''
}

async function end(child: ChildProcess, devtools: DevtoolsPipe): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
  const ended = once(child, 'exit')
  devtools.send('Browser.close').catch(() => child.kill())
  const force = setTimeout(() => child.kill('SIGKILL'), endTimeout)
  await ended.catch(() => undefined)
  clearTimeout(force)
}

/** An event of the browser, or of one of its pages, frames and workers. */
export interface DevtoolsEvent {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** Undefined for the browser itself. */
  readonly sessionId: string | undefined
}

interface Message {
  readonly id?: number
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly sessionId?: string
  readonly result?: unknown
  readonly error?: { readonly message: string }
}

/** Timeout of one command, in ms. */
const commandTimeout = 30_000

/**
 * The Chrome DevTools Protocol over two pipes: messages are JSON, each with a zero byte behind it (chromium's
 * `--remote-debugging-pipe`). No port is opened that other accounts of the machine could use.
 */
class DevtoolsPipe {
  readonly #output: Writable
  readonly #waiting = new Map<number, { resolve(result: unknown): void; reject(error: Error): void }>()
  readonly #listeners = new Set<(event: DevtoolsEvent) => void>()
  #lastId = 0
  #rest: Buffer[] = []
  #end: Error | undefined

  constructor(output: Writable, input: Readable) {
    this.#output = output
    output.on('error', (error) => this.close(error))
    input.on('data', (chunk: Buffer) => this.#read(chunk))
    input.on('error', (error) => this.close(error)).on('close', () => this.close(new Error('the browser has ended')))
  }

  /** @throws {Error} with the browser's words, when it does not answer in 30 s, and when it has ended */
  async send<T = unknown>(method: string, params: object = {}, sessionId?: string): Promise<T> {
    if (this.#end) throw this.#end
    const id = ++this.#lastId
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    this.#waiting.set(id, { resolve, reject })
    const timer = setTimeout(() => reject(new Error(`the browser did not answer ${method}`)), commandTimeout)
    this.#output.write(`${JSON.stringify({ id, method, params, ...(sessionId && { sessionId }) })}\0`)
    try {
      return (await promise) as T
    } finally {
      clearTimeout(timer)
      this.#waiting.delete(id)
    }
  }

  /** @returns ends it */
  listen(listener: (event: DevtoolsEvent) => void): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Every command that waits fails with the reason; so does every later one. */
  close(reason: Error): void {
    this.#end ??= reason
    for (const { reject } of this.#waiting.values()) reject(this.#end)
  }

  #read(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...this.#rest, chunk.subarray(start, end)]).toString()
      this.#rest = []
      start = end + 1
      this.#handle(JSON.parse(message) as Message)
    }
    if (start < chunk.length) this.#rest.push(chunk.subarray(start))
  }

  #handle({ id, method, params = {}, sessionId, result, error }: Message): void {
    if (id !== undefined) {
      const waiting = this.#waiting.get(id)
      return error ? waiting?.reject(new Error(error.message)) : waiting?.resolve(result)
    }
    if (method !== undefined) for (const listener of this.#listeners) listener({ method, params, sessionId })
  }
}
