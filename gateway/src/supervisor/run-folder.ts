import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

/** Max length of the name of a folder for sockets, in bytes: the kernel takes 107 for a socket, and ours is called `operator.sock`. */
const maxNameBytes = 90

/** A folder for this run's sockets, accessible to our user only (0700). @throws when none can be made */
export function makeRunFolder(): string {
  const name = 'berth-run-'
  const wanted = path.join(tmpdir(), name)
  return mkdtempSync(Buffer.byteLength(wanted) + 6 <= maxNameBytes ? wanted : path.join('/tmp', name))
}

/** Removes it with everything in it; never throws, for it is done last. */
export function removeRunFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A folder that stays is empty or holds a dead socket, and the next run makes its own.
  }
}

/**
 * The folder that the gateway and the API share as two services: a path that is the same for both, such as a volume that both
 * mount, and closed to other accounts. It holds the sockets between them.
 */

/** In ms: how long an API process waits for a gateway, and the pause between two attempts. */
const waiting = { limit: 60_000, pause: 100 }

const socketIn = (folder: string) => path.join(folder, 'gateway.sock')

/** What gateway and API write into the folder: their sockets, and the settings in effect. */
const ownNames = ['gateway.sock', 'api.sock', 'operator.sock', 'reader.sock', 'settings.json', 'settings.json.new']
/** Of a file system of its own. */
const ignoredName = 'lost+found'
/** Names in the message. */
const maxNames = 3

/**
 * The gateway is first: what Berth wrote into the folder is left over from an earlier run, and is removed.
 * @returns path of the socket to listen on
 * @throws in words, when another gateway lives there, or something else is in the folder; nothing is removed then
 */
export async function prepareLinkFolder(folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const names = readdirSync(folder).filter((name) => name !== ignoredName)
  const others = names.filter((name) => !ownNames.includes(name)).sort()
  if (others.length > 0) throw new Error(notOwn(folder, others))
  if (await isListenedOn(socketIn(folder))) throw new Error(isTaken(folder))
  for (const name of names) rmSync(path.join(folder, name), { force: true })
  return socketIn(folder)
}

/** A listener whose queue is full, as that of a process that hangs, lives as well. */
async function isListenedOn(socketPath: string): Promise<boolean> {
  const socket = connect(socketPath)
  try {
    await once(socket, 'connect')
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EAGAIN'
  } finally {
    socket.destroy()
  }
}

const isTaken = (folder: string) =>
  `Another gateway runs in ${folder} (BERTH_LINK_DIR). Stop it first, or name another folder; nothing was removed.`

function notOwn(folder: string, others: readonly string[]): string {
  const named = others.slice(0, maxNames).join(', ') + (others.length > maxNames ? ', ...' : '')
  return `BERTH_LINK_DIR is ${folder}, which has something that is not of gateway and API: ${named}. Name a folder for their sockets alone; nothing was removed.`
}

/** @returns a connection to the gateway @throws in words, when there is none within a minute */
export async function connectInFolder(folder: string): Promise<Socket> {
  for (const end = performance.now() + waiting.limit; ; await sleep(waiting.pause)) {
    const socket = connect(socketIn(folder))
    try {
      await once(socket, 'connect')
      return socket
    } catch (cause) {
      socket.destroy()
      if (performance.now() > end)
        throw new Error(`no gateway listens in ${folder}; start it: berth gateway`, { cause })
    }
  }
}

/** Sockets of an API process that was killed; the gateway lets one run at a time. */
export function removeStaleSockets(sockets: readonly string[]): void {
  for (const socket of sockets) rmSync(socket, { force: true })
}

/** PID file: where the command line finds a running Berth. */
export interface PidFile {
  /** Path of the operator's Unix socket. The API process may be away from it for a while. */
  readonly socket: string
  /** Of the gateway process: while that lives, the service runs. */
  readonly pid: number
  /** When the service was started. */
  readonly since: Date
}

/** A file that only the account that Berth runs as may read; it lies in the data folder, which both can name. */
const fileIn = (dataDir: string) => path.join(dataDir, 'operator-socket')

/**
 * Says where the service is, from the moment on at which it takes the store. An API process that follows another of the
 * same service leaves `since` as it is. @throws when the data folder cannot be written
 */
export function writePidFile(dataDir: string, { socket, pid, since }: PidFile): void {
  const earlier = readPidFile(dataDir)
  const isSame = earlier?.socket === socket && earlier.pid === pid
  const text = JSON.stringify({ socket, pid, since: (isSame ? earlier.since : since).toISOString() })
  mkdirSync(dataDir, { recursive: true, mode: 0o700 })
  // Atomic replacement: a reader sees the old or the new file.
  const aside = `${fileIn(dataDir)}.${process.pid}`
  writeFileSync(aside, `${text}\n`, { mode: 0o600 })
  renameSync(aside, fileIn(dataDir))
}

/**
 * @returns undefined when no service has said where it is, or was stopped. One that was killed leaves its file: whether
 * it still counts is for the reader to find out. @throws when the file may not be read
 */
export function readPidFile(dataDir: string): PidFile | undefined {
  try {
    const { socket, pid, since } = Object(JSON.parse(readFileSync(fileIn(dataDir), 'utf8'))) as Record<string, unknown>
    const at = new Date(String(since))
    const isWhole = typeof socket === 'string' && Number.isSafeInteger(pid) && !Number.isNaN(at.getTime())
    return isWhole ? { socket, pid: Number(pid), since: at } : undefined
  } catch (error) {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** The service is stopped. A file that names another socket is another service's, and stays. Never throws: it is done last. */
export function removePidFile(dataDir: string, socket: string): void {
  try {
    if (readPidFile(dataDir)?.socket === socket) rmSync(fileIn(dataDir))
  } catch {
    // A file that stays names a socket without a listener.
  }
}
