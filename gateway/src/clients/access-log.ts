import { closeSync, constants, openSync } from 'node:fs'
import { LogDestination } from '#/basics/log-destination.ts'
import { formatAccess, type AccessEntry, type AccessLogFormat } from './format-access.ts'

export interface AccessLogSettings {
  readonly format: AccessLogFormat
  /** Path; null for standard output. */
  readonly file: string | null
}

/** A named pipe without a reader must neither delay the start nor a thread of the pool. */
const { O_WRONLY, O_APPEND, O_CREAT, O_NONBLOCK } = constants
const flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK
/** Permissions of a new file: it has addresses of people. */
const fileMode = 0o640

/** Access log: one line for each request. Never delays a request: lines that cannot be written in time are dropped and counted. */
export class AccessLog {
  readonly #format: AccessLogFormat
  readonly #fd: number
  readonly #isFile: boolean
  readonly #destination: LogDestination

  private constructor(format: AccessLogFormat, fd: number, isFile: boolean) {
    this.#format = format
    this.#fd = fd
    this.#isFile = isFile
    this.#destination = new LogDestination(fd, { reportsLost: false, isShared: !isFile })
  }

  /** @throws {Error} with the code of the system when the file cannot be opened */
  static open({ format, file }: AccessLogSettings): AccessLog {
    if (file === null) return new AccessLog(format, process.stdout.fd, false)
    return new AccessLog(format, openSync(file, flags, fileMode), true)
  }

  /** Lines that were dropped since the start. */
  get dropped(): number {
    return this.#destination.dropped
  }

  write(entry: AccessEntry): void {
    this.#destination.write(formatAccess(entry, this.#format))
  }

  /** Writes what waits, as far as that goes at once, and closes the file. */
  close(): void {
    this.#destination.end(() => {
      if (this.#isFile) closeSync(this.#fd)
    })
  }
}
