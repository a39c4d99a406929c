import { parentPort, type MessagePort } from 'node:worker_threads'
import { remoteIterator, serveIterator } from '#/machine/remote-iterator.ts'
import { BadArchive, SizeLimitExceeded, checkedArchive } from './checked-archive.ts'
import { movedArchive, partOf, type ArchivePart } from './move-archive.ts'
import type { DescribedError, TarJob } from './tar-thread.ts'

/** The program of the thread that `TarThread` starts: each message is a job with a port for its archive and one for its answer. */
parentPort?.on('message', ({ job, input, output }: { job: TarJob; input: MessagePort; output: MessagePort }) => {
  const archive = remoteIterator(input, () => new Error('the archive cannot be read'))
  serveIterator<ArchivePart | void>(output, begin(job, archive), describe)
})

function begin(job: TarJob, archive: AsyncIterable<Uint8Array>): AsyncIterator<Uint8Array, ArchivePart | void> {
  switch (job.kind) {
    case 'check':
      return checkedArchive(archive, job.limits)
    case 'move':
      return movedArchive(archive, job.move)[Symbol.asyncIterator]()
    case 'part':
      return { next: async () => ({ done: true, value: await partOf(archive, job.only) }) }
  }
}

function describe(error: unknown): DescribedError {
  if (error instanceof BadArchive) return { kind: 'bad', sentence: error.sentence }
  return { kind: error instanceof SizeLimitExceeded ? 'size' : 'other', message: String(error) }
}
