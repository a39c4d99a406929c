import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SingleFlight } from '#/machine/single-flight.ts'
import { refusals } from '#/refusals/errors.ts'
import type { HomeContents } from '#/engines/home-contents.ts'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { HomeAccess, type HomeAccessParts } from './home-access.ts'
import { HomeSnapshots, type HomeSnapshotsParts } from './home-snapshots.ts'
import type { SnapshotFiles } from './snapshot-files.ts'

const now = new Date('2026-12-01T10:00:00Z')
const ann = { id: 1, slug: 'ann' }

/** A home without end: reading it ends by the signal alone. */
class EndlessHome implements Pick<HomeContents, 'read'> {
  reads = 0
  ended = 0

  async *read(_volume: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
    this.reads++
    try {
      await new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('the engine ended it'))))
      yield new Uint8Array()
    } finally {
      this.ended++
    }
  }
}

function arrange(timeLimit?: number) {
  const home = new EndlessHome()
  const warnings: unknown[] = []
  const access = new HomeAccess({
    isOn: true,
    contents: home,
    singleFlight: new SingleFlight(),
    installation: 'berth',
    timeLimit,
  } as unknown as HomeAccessParts)
  const write: SnapshotFiles['write'] = async (_volume, _reason, archive) => {
    for await (const _ of archive);
    throw new Error('an endless home has ended')
  }
  const log = { warn: (fields: unknown) => void warnings.push(fields), info: () => undefined }
  const snapshots = new HomeSnapshots({
    access,
    maxBytes: 1_000,
    files: { write },
    log,
  } as unknown as HomeSnapshotsParts)
  return { home, access, warnings, before: (signal: AbortSignal) => snapshots.beforeImage(ann, 'dev', now, signal) }
}

// The signal was dropped: a stop of the launch waited until the home was read, a quarter of an hour at most.
test('a launch that is cancelled while its home is read ends when the read has', async () => {
  const { home, before, warnings } = arrange()
  const cancel = new AbortController()
  const launch = before(cancel.signal)
  while (home.reads === 0) await new Promise(setImmediate)
  cancel.abort(refusals.launchStopped())
  await assert.rejects(launch, { code: 'launchStopped' })
  assert.deepEqual([home.ended, warnings], [1, []])
})

test('a launch that is cancelled while it waits behind other homes ends at once, and reads nothing', async () => {
  const { home, access, before } = arrange()
  const others = Promise.withResolvers<void>()
  const both = [access.runNext(() => others.promise), access.runNext(() => others.promise)]
  const cancel = new AbortController()
  const launch = before(cancel.signal)
  cancel.abort(refusals.launchStopped())
  await assert.rejects(launch, { code: 'launchStopped' })
  others.resolve()
  await Promise.all(both)
  await new Promise(setImmediate)
  assert.equal(home.reads, 0)
})

// The operator corrects the name of an image that could not be pulled: the log warned of a home without a snapshot, and there was none.
test('before the first home of a container there is nothing to keep, and nothing to warn of', async () => {
  const { home, before, warnings } = arrange()
  home.read = () => {
    throw new RuntimeError('missing', 'read a home')
  }
  await before(new AbortController().signal)
  assert.deepEqual(warnings, [])
})

test('a launch whose snapshot does not begin in time is refused with words, and one whose snapshot fails goes on', async () => {
  const { home, access, before, warnings } = arrange(100)
  const others = Promise.withResolvers<void>()
  const both = [access.runNext(() => others.promise), access.runNext(() => others.promise)]
  const alive = setInterval(() => undefined, 1_000)
  await assert.rejects(before(new AbortController().signal), { code: 'snapshotsBusy' })
  others.resolve()
  await Promise.all(both)
  assert.deepEqual([home.reads, warnings.length], [0, 0])
  await before(new AbortController().signal)
  assert.deepEqual([home.reads, warnings.length], [1, 1])
  clearInterval(alive)
})
