import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'

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
