import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, engineState, until } from '../support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '../support/berth.ts'
import { pollUntil } from '../support/control-plane.ts'
import { openStream, type OpenStream } from '../support/event-stream.ts'
import { execInContainer } from '../support/engine/exec-in-container.ts'

/** What people notice of how much they may have on disk, with a real engine that measures. */
const limit = 1024 ** 2
const berth = await startBerth(
  { after },
  {
    env: { MAX_DISK_PER_USER: String(limit), CONTAINER_TEMPLATES: await testTemplates({ home: '/home/berth' }) },
    pace: { measureHomes: 2_000 },
  },
)
const admin = await berth.administrator()

/** Waits until Berth knows of so many bytes. */
async function measured(person: Person, bytes: number): Promise<OpenStream['events'][number]['data']> {
  const page = await openStream(berth, person.token)
  const isKnown = ({ name, data }: OpenStream['events'][number]) => name === 'disk' && Number(data.used) >= bytes
  await until(async () => page.events.some(isKnown))
  page.close()
  return page.events.find(isKnown)?.data ?? {}
}

const write = (bytes: number) => `head -c ${bytes} /dev/zero > big`
const launch = (person: Person, type: string) => person.call('POST', `/api/container/launch/${type}`)

test('a user close to the limit sees it on their pages, also on those opened later', async () => {
  const ann = await berth.signUp('ann@x.org')
  const early = measured(ann, 1_000_000)
  await execInContainer(ann.auth.user.container_id ?? '', write(1_000_000))
  for (const { type, used, limit: max } of [await early, await measured(ann, 1_000_000)]) {
    assert.deepEqual([type, max], [null, limit])
    assert.ok(Number(used) < limit, `${Number(used)}`)
  }
  assertOk(await launch(ann, 'prod'))
})

test('beyond the limit what runs goes on, nothing more is started, and a clean-up counts at the next attempt', async () => {
  const bob = await berth.signUp('bob@x.org')
  const dev = bob.auth.user.container_id ?? ''
  await execInContainer(dev, write(2 * limit))
  await measured(bob, 2 * limit)
  const refused = await launch(bob, 'prod')
  assert.deepEqual([refused.status, refused.body.reason], [500, 'full'])
  assert.match(refused.body.error, /^Your files take 2 MiB of the 1 MiB that they may/)
  assert.equal((await launch(bob, 'dev')).body.container_id, dev)
  await berth.runtime.stop(dev)
  assert.equal((await launch(bob, 'dev')).body.reason, 'full')
  assert.equal((await bob.call('GET', '/bob-dev/')).status, 503)
  assert.equal(await engineState(berth, dev), 'exited')
  const { warnings } = (await admin.call('GET', '/api/admin/system')).body
  assert.ok(
    warnings.some((words: string) => words.includes(`bob (user ${bob.id}): 2 MiB of 1 MiB`)),
    warnings,
  )
  const inGerman = await admin.call('GET', '/api/admin/system', { headers: { 'accept-language': 'de' } })
  assert.match(inGerman.body.warnings.join(), /Volle Home-Ordner: 1\. bob \(Konto \d+\): 2 MiB von 1 MiB\./)
  assert.match((await berth.call('GET', '/metrics')).text, /\nberth_homes_full_users 1\n/)
  await berth.runtime.start(dev)
  await execInContainer(dev, 'rm big')
  await until(async () => (await launch(bob, 'prod')).status === 200)
})

// A student far beyond the limit was locked out: files could be deleted in a container that runs alone.
test('far beyond the limit files of the stopped home are deleted, and an administrator gives one person more', async () => {
  const dan = await berth.signUp('dan@x.org')
  const dev = dan.auth.user.container_id ?? ''
  await execInContainer(dev, write(3 * limit))
  await measured(dan, 3 * limit)
  assertOk(await dan.call('POST', '/api/container/stop/dev'))
  assert.equal((await launch(dan, 'dev')).body.reason, 'full')
  const extra = (bytes: number, who = admin) =>
    who.call('POST', `/api/admin/users/${dan.id}/extra-disk`, { body: { bytes } })
  assert.equal((await extra(1, dan)).status, 403)
  const raised = await extra(5 * limit)
  assertOk(raised)
  assert.equal(raised.body.user.extra_disk_bytes, 5 * limit)
  assertOk(await launch(dan, 'dev'))
  assertOk(await dan.call('POST', '/api/container/stop/dev'))
  assert.equal((await extra(0)).body.user.extra_disk_bytes, undefined)
  assert.equal((await launch(dan, 'dev')).body.reason, 'full')
  assertOk(await dan.call('DELETE', '/api/container/files/dev?path=big'))
  // A measurement that takes longer than a launch waits for it counts at the next attempt.
  await pollUntil(
    async () => (await launch(dan, 'dev')).status === 200,
    () => 'the files that were deleted still count',
  )
  const { entries } = (await admin.call('GET', '/api/admin/audit?action=user.extra-disk')).body
  assert.equal(entries.length, 2)
})

test('a little beyond the limit the container with most files still starts, so that some can be deleted', async () => {
  const cat = await berth.signUp('cat@x.org')
  const dev = cat.auth.user.container_id ?? ''
  await execInContainer(dev, write(limit + 100_000))
  await measured(cat, limit + 100_000)
  assert.match((await launch(cat, 'prod')).body.error, /Delete some in Development, which still starts/)
  await berth.runtime.stop(dev)
  assertOk(await launch(cat, 'dev'))
})
