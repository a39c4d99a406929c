import assert from 'node:assert/strict'
import { mock, test } from 'node:test'
import { dockerCapabilities } from '#/engines/docker/docker-runtime.ts'
import { HomeUsage, type HomeUsageParts } from './home-usage.ts'
import type { PendingUsage } from './usage-recorder.ts'

const gib = 1_073_741_824

function arrange(homes: number, more: Partial<HomeUsageParts> = {}, isMeasuredForLimit = false) {
  const added: PendingUsage[] = []
  let [measured, written] = [0, 0]
  let fault: Error | undefined
  const usage = new HomeUsage({
    runtime: { capabilities: dockerCapabilities },
    diskUse: {
      isWanted: isMeasuredForLimit,
      measure: async () => {
        measured++
        if (fault) throw fault
      },
      *sizes() {
        for (let userId = 1; userId <= homes; userId++) yield { userId, type: 'dev', bytes: 2 * gib }
      },
    },
    recorder: { add: (pending) => void added.push(pending) },
    writer: { write: async () => void written++ },
    timeZone: 'UTC',
    isWanted: true,
    log: { warn: () => undefined },
    ...more,
  })
  const fail = (error: Error | undefined) => (fault = error)
  return { usage, added, fail, counts: () => ({ measured, written }) }
}

test('homes count by their size and the time since the pass before; a failed pass loses no time', async (t) => {
  const { usage, added, fail, counts } = arrange(2_500)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  let now = 0
  t.mock.method(performance, 'now', () => now)
  usage.start()
  await turns()
  assert.equal(added.length, 0)
  now += 3_600_000
  fail(new Error('the engine is gone'))
  mock.timers.tick(3_600_000)
  await turns()
  assert.equal(added.length, 0)
  now += 1_800_000
  fail(undefined)
  mock.timers.tick(3_600_000)
  await turns()
  assert.equal(added.length, 2_500)
  assert.equal(added[0]?.sums.home_mib_s, 2 * 1_024 * 5_400)
  // Written as it goes: the sums of 100,000 homes are never in memory together.
  // Before the first pass there is no time that sizes could count for, so that one has measured nothing.
  assert.deepEqual(counts(), { measured: 2, written: 2 })
  await usage.stop()
})

test('homes that a limit has measured count without another measurement', async () => {
  const { usage, added, counts } = arrange(1, {}, true)
  await usage.pass()
  await usage.pass()
  assert.deepEqual([added.length, counts().measured], [1, 0])
})

test('where it is not wanted, or the engine cannot, no pass begins', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.after(() => mock.timers.reset())
  const passesOf = async (more: Partial<HomeUsageParts>) => {
    const { usage, counts } = arrange(1, more)
    usage.start()
    await turns()
    mock.timers.tick(3_600_000)
    await turns()
    await usage.stop()
    return counts().measured
  }
  const unable = { capabilities: { ...dockerCapabilities, measuresHomes: false } }
  assert.deepEqual(
    [await passesOf({}), await passesOf({ isWanted: false }), await passesOf({ runtime: unable })],
    [1, 0, 0],
  )
})

/** Lets what is due go on, without a wait for time. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
}
