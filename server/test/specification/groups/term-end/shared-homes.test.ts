import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { findUser } from '#/store/users.ts'
import { assertOk } from '#test/support/api-calls.ts'
import type { Signed } from '#test/support/group-berth.ts'
import { startTermEndBerth } from '#test/support/term-end-berth.ts'

/** The end of a term counts a home that types share once, and it ends with the last of them. */
const shared = { image: 'x', port: 8080, home_of: 'user' }
const env = { CONTAINER_TEMPLATES: JSON.stringify({ dev: { image: 'x', port: 8080 }, lab: shared, desk: shared }) }
const world = await startTermEndBerth({ after }, { env })
const { berth, boss, homes, signUp, group, launch, end, until } = world
const isDone = ({ phase }: { phase: string }) => phase === 'done'
const exists = async ({ id }: Signed) => (await findUser(berth.database.db, id)) !== undefined
const ofUser = ({ id }: Signed) => [...homes.contents.keys()].filter((volume) => volume.includes(`-home-${id}-`))

test('a home that two types share is archived once, and removed with the account', async () => {
  const ann = await signUp('ann@x.org')
  const { id } = await group({ name: 'Both', types: ['dev', 'lab', 'desk'] }, [ann])
  for (const type of ['lab', 'desk']) assertOk(await launch(ann, type))
  const [first] = (await boss.call('GET', `/api/admin/groups/${id}/term-end/preview`)).body.members
  assert.equal(first.archives.length, 2, 'the home of dev, and the shared one')
  await end(id)
  const { archives } = await until(id, isDone)
  assert.equal(archives, 2)
  assert.deepEqual([await exists(ann), ofUser(ann)], [false, []])
})

test('a home is kept while another group keeps a type that shares it', async () => {
  const ben = await signUp('ben@x.org')
  const { id } = await group({ name: 'One', types: ['lab'] }, [ben])
  await group({ name: 'Other', types: ['desk'] }, [ben])
  for (const type of ['lab', 'desk']) assertOk(await launch(ben, type))
  const before = ofUser(ben)
  await end(id)
  const { archives } = await until(id, isDone)
  assert.deepEqual([archives, await exists(ben), ofUser(ben)], [0, true, before])
  const records = (await boss.call('GET', '/api/admin/users?q=ben')).body.users[0].containers
  assert.ok(!records.some((each: { container_type: string }) => each.container_type === 'lab'))
})

// The list of homes that the plan had was made before hers, and her home went without an archive.
test('the shared home of a member who stays is archived, and removed with the last of its containers', async () => {
  const eva = await signUp('eva@x.org')
  const { id } = await group({ name: 'Third', types: ['lab', 'desk'] }, [eva])
  for (const type of ['lab', 'desk']) assertOk(await launch(eva, type))
  const before = ofUser(eva).length
  await end(id)
  const { archives } = await until(id, isDone)
  assert.deepEqual([archives, await exists(eva)], [1, true], 'dev stays')
  assert.equal(ofUser(eva).length, before - 1)
})
