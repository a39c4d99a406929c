import path from 'node:path'
import { MessageChannel, Worker } from 'node:worker_threads'
import type { LocalizedMessage } from '@berth/texts/localized-message.ts'
import { remoteIterator, serveIterator } from '#/machine/remote-iterator.ts'
import { BadArchive, SizeLimitExceeded, type ArchiveLimits } from './checked-archive.ts'
import type { ArchivePart, Move } from './move-archive.ts'

/** What the thread does with an archive. */
export type TarJob =
  | { readonly kind: 'check'; readonly limits: ArchiveLimits }
  | { readonly kind: 'move'; readonly move: Move }
  | { readonly kind: 'part'; readonly only: string }

/** An error of the thread, as it passes to the other one. */
export type DescribedError =
  | { readonly kind: 'bad'; readonly sentence: LocalizedMessage }
  | { readonly kind: 'size' | 'other'; readonly message: string }

/** How long a thread without work stays, in ms. */
const idleTime = 5_000

/**
 * Work on archives that costs by entries, not by bytes, in a thread of its own: a million empty files took the event loop of
 * the API for a minute. One thread serves all, so that this work never takes more than one core; it starts with the first job.
 */
class TarThread {
  #worker: Worker | undefined
  #jobs = 0
  #idle: NodeJS.Timeout | undefined

  /** Does what `checkedArchive` does. @throws as it */
  async *check(archive: AsyncIterable<Uint8Array>, limits: ArchiveLimits): AsyncGenerator<Uint8Array> {
    yield* this.#run(archive, { kind: 'check', limits })
  }

  /** Does what `movedArchive` does. @throws as it */
  async *move(archive: AsyncIterable<Uint8Array>, move: Move): AsyncGenerator<Uint8Array> {
    yield* this.#run(archive, { kind: 'move', move })
  }

  /** Does what `partOf` does. @throws as it */
  async partOf(archive: AsyncIterable<Uint8Array>, only: string): Promise<ArchivePart> {
    if (only === '') return { isThere: true, elsewhere: new Map() }
    const run = this.#run<ArchivePart>(archive, { kind: 'part', only })
    for (;;) {
      const { done, value } = await run.next()
      if (done) return value
    }
  }

  async *#run<R>(archive: AsyncIterable<Uint8Array>, job: TarJob): AsyncGenerator<Uint8Array, R> {
    const [input, output] = [new MessageChannel(), new MessageChannel()]
    const source = { failure: undefined as unknown }
    serveIterator(input.port1, archive[Symbol.asyncIterator](), (error) => void (source.failure = error))
    const worker = this.#enter()
    try {
      worker.postMessage({ job, input: input.port2, output: output.port2 }, [input.port2, output.port2])
      return yield* remoteIterator<R>(output.port1, revive)
    } catch (error) {
      throw source.failure ?? error
    } finally {
      input.port1.close()
      this.#leave()
    }
  }

  #enter(): Worker {
    clearTimeout(this.#idle)
    this.#jobs++
    if (this.#worker) return this.#worker
    const worker = new Worker(path.join(import.meta.dirname, 'tar-worker.ts'))
    // Its jobs fail by their ports, which close with it; the next job starts another thread.
    const forget = () => void (this.#worker === worker && (this.#worker = undefined))
    worker.once('error', forget)
    worker.once('exit', forget)
    worker.unref()
    this.#worker = worker
    return worker
  }

  #leave(): void {
    if (--this.#jobs > 0) return
    this.#idle = setTimeout(() => {
      const worker = this.#worker
      this.#worker = undefined
      void worker?.terminate()
    }, idleTime)
    this.#idle.unref()
  }
}

/** The thread of this process. */
export const tarThread = new TarThread()

function revive(described: unknown): Error {
  const error = described as DescribedError
  if (error.kind === 'bad') return new BadArchive(error.sentence)
  return error.kind === 'size' ? new SizeLimitExceeded(error.message) : new Error(error.message)
}
