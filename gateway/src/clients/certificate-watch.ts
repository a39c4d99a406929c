import { statSync } from 'node:fs'
import { readTlsPair, type TlsFiles, type TlsPair } from '#/basics/tls-pair.ts'

/** Interval at which the files are checked, in ms. Two `stat` calls; notifications miss links that are replaced. */
const checkEvery = 5_000

export interface CertificateEvents {
  readonly changed: (pair: Exclude<TlsPair, { problem: string }>) => void
  /** Once for each state of the files. */
  readonly wrong: (problem: string) => void
}

/** Polls the files of a certificate, which ACME clients replace one after the other. */
export class CertificateWatch {
  readonly #events: CertificateEvents
  readonly #timer: NodeJS.Timeout
  #files: TlsFiles
  #seen: string

  constructor(files: TlsFiles, events: CertificateEvents) {
    this.#events = events
    this.#files = files
    this.#seen = stateOf(files)
    this.#timer = setInterval(() => this.check(), checkEvery)
    this.#timer.unref()
  }

  /** Checks now. @param files other ones to check from now on */
  check(files: TlsFiles = this.#files): void {
    this.#files = files
    const state = stateOf(files)
    if (state === this.#seen) return
    this.#seen = state
    const pair = readTlsPair(files)
    if ('problem' in pair) this.#events.wrong(pair.problem)
    else if (pair.validTo <= new Date()) this.#events.wrong(`it expired at ${pair.validTo.toISOString()}`)
    else this.#events.changed(pair)
  }

  close(): void {
    clearInterval(this.#timer)
  }
}

/** Changes when a file is written or replaced, also behind a symbolic link. Never throws: it runs in a timer. */
function stateOf({ certFile, keyFile }: TlsFiles): string {
  return [certFile, keyFile].map(stateOfFile).join('\n')
}

function stateOfFile(file: string): string {
  try {
    const { ino, size, mtimeMs, ctimeMs } = statSync(file)
    return `${file} ${ino} ${size} ${mtimeMs} ${ctimeMs}`
  } catch (error) {
    return `${file} ${(error as NodeJS.ErrnoException).code}`
  }
}
