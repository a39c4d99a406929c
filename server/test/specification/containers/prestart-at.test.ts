// Part of npm run test:more: it waits for the minute; that times of day are kept, a quick test states with a clock of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { until } from '../../support/api-calls.ts'
import { startBerth } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'
import { waitLimit } from '#test/support/extent.ts'

/** Containers that are started at a time of day, at a real engine and by the real clock. */

// It waits for up to 100 s, and then for a start.
const limits = { timeout: waitLimit(240_000) }

test('at prestart_at the container of who used one is started and paused, and no other', limits, async (t) => {
  const image = await testImage()
  // The next minute that is not so near that the accounts are made after it.
  const due = new Date(Math.ceil((Date.now() + 40_000) / 60_000) * 60_000)
  const lab = { image, memory: '64m', prestart_at: `${due.toISOString().slice(11, 16)} UTC` }
  const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image, memory: '64m' }, lab }) }
  const berth = await startBerth(t, { env })
  const ann = await berth.signUp('ann@x.org')
  const bob = await berth.signUp('bob@x.org')
  const stateOf = async (slug: string) => (await berth.runtime.inspect(`${berth.installation}-${slug}-lab`))?.state
  assert.equal((await ann.call('POST', '/api/container/launch/lab')).status, 200)
  assert.equal((await ann.call('POST', '/api/container/stop/lab')).status, 200)
  assert.equal(await stateOf(ann.slug), 'exited')
  assert.ok(Date.now() < due.getTime(), 'before it is due')
  // A time of day comes when it comes; it is looked at every ten seconds.
  await sleep(due.getTime() - Date.now())
  await until(async () => (await stateOf(ann.slug)) === 'paused')
  assert.equal(await stateOf(bob.slug), undefined)
  const opened = await ann.call('GET', `/${ann.slug}-lab/`)
  assert.deepEqual([opened.status, opened.text], [200, 'hello\n'])
})
