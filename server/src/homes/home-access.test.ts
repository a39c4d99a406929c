import assert from 'node:assert/strict'
import { test } from 'node:test'
import { unsharedHomes } from '#test/support/unshared-homes.ts'
import { SingleFlight } from '#/machine/single-flight.ts'
import { HomeAccess, type HomeAccessParts } from './home-access.ts'

const [ann, ben] = [
  { id: 1, slug: 'ann' },
  { id: 2, slug: 'ben' },
]
const accessOf = () =>
  new HomeAccess({
    isOn: true,
    isService: true,
    singleFlight: new SingleFlight(),
    installation: 'berth',
    homes: unsharedHomes(),
  } as unknown as HomeAccessParts)

// Two uploads of one person held the snapshot of another for 150 s.
test('work on the homes of one person leaves a turn for those of others', async () => {
  const access = accessOf()
  const end = Promise.withResolvers<void>()
  const work = (type: string) => access.run(ann, type, 'restore', [], () => end.promise)
  const all = ['a', 'b', 'c'].map(work)
  assert.equal(await access.run(ben, 'a', 'snapshot', [], async () => 'made'), 'made')
  assert.equal(await access.readYielding(ben, 'a', 'folders', async () => 'read'), 'read')
  end.resolve()
  await Promise.all(all)
})

test('one person does not take all places of those who wait', async () => {
  const access = accessOf()
  const end = Promise.withResolvers<void>()
  const works = Array.from({ length: 20 }, (_, at) =>
    access
      .run(ann, `type-${at}`, 'restore', [], () => end.promise)
      .then(
        () => 'done',
        (error: unknown) => (error as { code?: string }).code,
      ),
  )
  const blocker = access.run(ben, 'a', 'snapshot', [], () => end.promise)
  const waiting = access.run(ben, 'b', 'snapshot', [], async () => 'made')
  end.resolve()
  const [outcomes, made] = [await Promise.all(works), await waiting]
  await blocker
  assert.equal(made, 'made')
  assert.ok(outcomes.includes('done') && outcomes.includes('snapshotsBusy'), outcomes.join())
})
