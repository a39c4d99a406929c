import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { SingleFlight } from '#/machine/single-flight.ts'
import { containerKey } from '#/store/user-containers.ts'
import type { ContainerState } from '#/containers/routes/container-state.ts'
import { readTemplate } from '#/templates/read-templates.ts'
import { refusals, type Refusal } from '#/refusals/errors.ts'
import { insertUser } from '#/store/users.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { openTemporaryStore } from '#test/support/store/temporary-store.ts'
import type { Containers } from '#/containers/open-containers.ts'
import { replaceOlder } from './replace-older.ts'

type Seen = 'gone' | { readonly state: string } | undefined

/** An older container of Ann's, in the state that a test sets, and what is done with it. */
async function arrange(t: TestContext) {
  const { db } = (await openTemporaryStore(t)).database
  const user = await insertUser(db, { email: 'ann@x.org', slug: 'ann', isAdmin: false, now: new Date() })
  const engine: { seen: Seen } = { seen: { state: 'running' } }
  const rules: { refusal: Refusal | undefined } = { refusal: undefined }
  const done: string[] = []
  const singleFlight = new SingleFlight()
  const key = containerKey({ userId: user.id, type: 'dev' })
  const operation = (verb: string) => () => singleFlight.run(key, verb, async () => void done.push(verb))
  const containers = {
    templates: { get: () => readTemplate('dev', { image: 'x' }).template },
    rules: { refusalFor: async () => rules.refusal },
    singleFlight,
    routeSync: { get: () => ({ seen: engine.seen }) as ContainerState },
    idleSuspension: { stopNow: operation('stop') },
    spawner: { replace: operation('replace') },
  } as unknown as Containers
  /** An operation of someone else, which ends with the container in this state when the test lets it. */
  const hold = (verb: string, seen: Seen) => {
    const ending = Promise.withResolvers<void>()
    const end = singleFlight.run(key, verb, async () => {
      await ending.promise
      engine.seen = seen
    })
    return async () => {
      ending.resolve()
      await end
    }
  }
  return { engine, rules, done, hold, replace: () => replaceOlder(db, containers, { userId: user.id, type: 'dev' }) }
}

// Replacing takes minutes in a class: what was stopped meanwhile was started again.
test('a container that was stopped since it was listed stays stopped, and a paused one is stopped', async (t) => {
  const { engine, done, replace } = await arrange(t)
  const doneWith = async (seen: Seen) => {
    engine.seen = seen
    await replace()
    return done.splice(0)
  }
  assert.deepEqual(await doneWith({ state: 'running' }), ['replace'])
  assert.deepEqual(await doneWith({ state: 'paused' }), ['stop'])
  for (const ended of [{ state: 'exited' }, { state: 'created' }, 'gone', undefined] as const)
    assert.deepEqual(await doneWith(ended), [])
})

// A program may take 10 s to end: a container that its owner was stopping just then was started again, with the new version.
test('a container whose stop is under way when it is to be replaced stays stopped', async (t) => {
  const { done, hold, replace } = await arrange(t)
  const endStop = hold('user stop', { state: 'exited' })
  const replaced = replace()
  await observationTime(20)
  await endStop()
  await replaced
  assert.deepEqual(done, [])
})

// A member who had left the group kept the old container open, and got the version of the next course from "update now".
test('a container whose owner may not launch the type any more stays as it is, also one that is waited for', async (t) => {
  const { engine, rules, done, hold, replace } = await arrange(t)
  rules.refusal = refusals.typeOfGroups()
  for (const state of ['running', 'paused']) {
    engine.seen = { state }
    await replace()
  }
  rules.refusal = undefined
  const endWake = hold('wake', { state: 'running' })
  const replaced = replace()
  await observationTime(20)
  rules.refusal = refusals.typeOfGroups()
  await endWake()
  await replaced
  assert.deepEqual(done, [])
})

test('what waits for a container before it is replaced is done first, and decides as well', async (t) => {
  const { engine, done, hold, replace } = await arrange(t)
  engine.seen = { state: 'paused' }
  const endWake = hold('wake', { state: 'running' })
  const replaced = replace()
  await observationTime(20)
  const endStop = hold('user stop', { state: 'exited' })
  await endWake()
  await endStop()
  await replaced
  assert.deepEqual(done, [])
})

test('a paused container that its owner wakes just then is replaced, not stopped', async (t) => {
  const { engine, done, hold, replace } = await arrange(t)
  engine.seen = { state: 'paused' }
  const endWake = hold('wake', { state: 'running' })
  const replaced = replace()
  await observationTime(20)
  await endWake()
  await replaced
  assert.deepEqual(done, ['replace'])
})
