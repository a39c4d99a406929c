// Part of npm run test:more: `environments/versions` and `containers/shared-homes` have the rules; this is both together.
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import type { Person } from '#test/support/berth.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { homesOf } from '#test/support/engine/homes.ts'
import { waitFor } from '#test/support/program.ts'
import { startEnvironmentBerth } from '#test/support/environment-berth.ts'

/** A type of an environment (contract, section 18) that shares a home and shows folders of groups (section 15). */
const base = { port: 8080, memory: '64m', home: '/home/berth', home_of: 'user', group_folders: '/groups' }
const templates = {
  dev: { ...base, image: await testImage() },
  course: { ...base, environment: 'course', command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] },
}
const rig = await startEnvironmentBerth(
  { after },
  { env: { SNAPSHOTS: 'on', CONTAINER_TEMPLATES: JSON.stringify(templates) } },
)
const { berth, boss, ask } = rig
const ann = await berth.signUpWithoutContainer('ann@x.org')
const run = async (person: Person, type: string, script: string) => {
  const launched = await person.call('POST', `/api/container/launch/${type}`)
  assertOk(launched)
  return (await execInContainer(launched.body.container_id, script)).trim()
}
const stop = async (person: Person, type: string) => assertOk(await person.call('POST', `/api/container/stop/${type}`))
async function publish(text: string): Promise<void> {
  const source = {
    dockerfile: `FROM ${rig.base}\nUSER 0\nRUN mkdir -p /www && echo ${text} > /www/index.html\nUSER 1000`,
  }
  if (text === 'one') await rig.make('course', source)
  else assertOk(await ask('PATCH', '/course', { source }))
  const { version } = await rig.build('course')
  assertOk(await ask('POST', `/course/versions/${version}/publish`))
}

test('the container of an environment has the home of its person, and the folder of the group, in each version', async () => {
  const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
  assertOk(made)
  const { id } = made.body.group
  assertOk(await boss.call('POST', `/api/groups/${id}/members`, { body: { emails: ['ann@x.org'], role: 'member' } }))
  assertOk(await boss.call('PUT', `/api/groups/${id}/folder`, { body: { name: 'physics', members: 'read' } }))
  await publish('one')
  await run(ann, 'dev', 'echo saved > /home/berth/file')
  assert.equal(await run(ann, 'course', 'cat /home/berth/file /www/index.html && ls /groups'), 'saved\none\nphysics')
  assert.match(await run(ann, 'course', 'echo no > /groups/physics/mine 2>&1 || true'), /Read-only file system/)

  await publish('two')
  for (const type of ['dev', 'course']) await stop(ann, type)
  assert.equal(await run(ann, 'course', 'cat /home/berth/file /www/index.html && ls /groups'), 'saved\ntwo\nphysics')
  assert.equal((await homesOf(berth, ann.id)).length, 1)
  // The new image made one, as with every home; types that share have one list.
  await waitFor('a snapshot', async () => {
    const { body } = await ann.call('GET', '/api/container/snapshots/dev')
    return body.snapshots.length === 1
  })
})
