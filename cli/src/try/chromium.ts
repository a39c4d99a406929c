import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { accessSync, constants } from 'node:fs'
import path from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { DevtoolsPipe } from './devtools-pipe.ts'

/** A running browser without a window. */
export interface Chromium {
  readonly devtools: DevtoolsPipe
  /** Name and version, such as `Chrome/150.0.7871.100`. */
  readonly version: string
  /** Ends it, by force after a moment. Never fails. */
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
  /** For its profile; private. */
  readonly folder: string
  /** Suffix of the hosts that lead to the trial; every other name and address leads nowhere. */
  readonly host: string
  /** Of the trial's gateway on the loopback interface, whatever port an address names. */
  readonly port: number
  readonly env: Readonly<Record<string, string | undefined>>
}

/**
 * Starts it. A page in it reaches the trial alone, so that an image that is tried cannot use the network of the operator.
 * @throws {Error} with its last words when it does not start
 */
export async function startChromium({ executable, folder, host, port, env }: ChromiumOptions): Promise<Chromium> {
  const rules = [`MAP ${host} 127.0.0.1:${port}`, `MAP *.${host} 127.0.0.1:${port}`, 'MAP * ~NOTFOUND']
  const args = [
    '--headless',
    '--remote-debugging-pipe',
    `--user-data-dir=${folder}`,
    `--host-resolver-rules=${rules.join(', ')}`,
    // Its own sandbox cannot be made by root.
    ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
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
  const child = spawn(executable, args, { stdio: [...stdio], env: { ...env, HOME: folder } })
  const [words, devtools] = [lastWordsOf(child), pipeOf(child)]
  child.on('error', (error) => devtools.close(error))
  try {
    const { product } = await devtools.send<{ product: string }>('Browser.getVersion')
    return { devtools, version: product, close: () => end(child, devtools) }
  } catch (error) {
    await end(child, devtools)
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
