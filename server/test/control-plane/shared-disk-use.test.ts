// Part of npm run test:more: `control-plane/disk-use` has the limits; this is what counts towards them.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, until } from '../support/api-calls.ts'
import { startBerth, testTemplates } from '../support/berth.ts'
import { execInContainer } from '../support/engine/exec-in-container.ts'
import { openStream } from '../support/event-stream.ts'

/** A home that types share counts once (contract, section 15), with a real engine that measures. */
const mebibyte = 1024 ** 2
const berth = await startBerth(
  { after },
  {
    env: {
      MAX_DISK_PER_USER: String(3 * mebibyte),
      CONTAINER_TEMPLATES: await testTemplates({ home: '/home/berth', home_of: 'user', group_folders: '/groups' }),
    },
    pace: { measureHomes: 100 },
  },
)
const boss = await berth.administrator()

test('the files of a shared home count once, and those in the folder of a group for no person', async () => {
  const ann = await berth.signUp('ann@x.org')
  const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
  assertOk(made)
  const { id } = made.body.group
  assertOk(await boss.call('POST', `/api/groups/${id}/members`, { body: { emails: ['ann@x.org'], role: 'manager' } }))
  assertOk(await ann.call('PUT', `/api/groups/${id}/folder`, { body: { name: 'physics', members: 'read' } }))
  const launched = await ann.call('POST', '/api/container/launch/prod')
  assertOk(launched)
  const page = await openStream(berth, ann.token)
  const write = 'head -c 2900000 /dev/zero > /home/berth/own && head -c 2900000 /dev/zero > /groups/physics/large'
  await execInContainer(launched.body.container_id, write)
  const folderBytes = async () => Number((await ann.call('GET', `/api/groups/${id}`)).body.folder_bytes)
  await until(async () => (await folderBytes()) >= 2_900_000)
  await until(async () => page.events.some(({ name, data }) => name === 'disk' && Number(data.used) >= 2_900_000))
  const used = page.events.filter(({ name }) => name === 'disk').map(({ data }) => Number(data.used))
  assert.ok(Math.max(...used) < 3 * mebibyte, used.join())
  for (const type of ['dev', 'prod']) {
    assertOk(await ann.call('POST', `/api/container/stop/${type}`))
    assertOk(await ann.call('POST', `/api/container/launch/${type}`))
  }
  page.close()
})
