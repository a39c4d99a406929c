import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import type { EngineCall, EngineClient } from './engine-client.ts'
import { HelperContainers } from './helper-containers.ts'

// A process was killed while it read an archive, and the engine never answered the removal of its helper. Each later
// process waited a minute for that removal and then failed, at the home of every user.
test('a helper that the engine never removes concerns its own volume alone', async () => {
  const removals: string[] = []
  const stuck = Promise.withResolvers<void>()
  const helpers = new HelperContainers(await engineWithHelperOf('home-of-ann', removals, stuck.promise), 'berth')

  await helpers.create('home-of-bob')
  assert.deepEqual(removals, ['/containers/left'])

  let isCreated = false
  const waiting = helpers.create('home-of-ann').then(() => (isCreated = true))
  await new Promise(setImmediate)
  assert.equal(isCreated, false, 'what the killed process wrote could still come behind what is written now')
  stuck.resolve()
  await waiting
  await helpers.create('home-of-ann')
})

/** A stand-in for the client of an engine, which has a helper of a process that is gone. */
async function engineWithHelperOf(volume: string, removals: string[], removed: Promise<void>): Promise<EngineClient> {
  const gone = spawn('true')
  await once(gone, 'exit')
  const left = { Id: 'left', Labels: { 'berth.helper.pid': String(gone.pid) }, Mounts: [{ Name: volume }] }
  const ask = async ({ method, path }: EngineCall): Promise<unknown> => {
    if (method === 'DELETE') {
      removals.push(path)
      await removed
    }
    return path === '/containers/json' ? [left] : { Id: 'made' }
  }
  const stream = async () => (async function* () {})()
  return { ask, download: async () => Buffer.alloc(0), stream } as unknown as EngineClient
}
