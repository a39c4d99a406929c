import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { test } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import type { EngineCall, EngineClient } from './engine-client.ts'
import { HelperContainers } from './helper-containers.ts'

// A process was killed while it read an archive, and the engine never answered the removal of its helper. Each later
// process waited a minute for that removal and then failed, at the home of every user.
test('a helper that the engine never removes concerns its own volume alone', async () => {
  const removals: string[] = []
  const stuck = Promise.withResolvers<void>()
  const helpers = new HelperContainers(await engineWithHelperOf('home-of-ann', removals, stuck.promise), 'berth')

  await helpers.create('home-of-bob', 'write')
  assert.deepEqual(removals, ['/containers/left'])

  let isCreated = false
  const waiting = helpers.create('home-of-ann', 'write').then(() => (isCreated = true))
  await new Promise(setImmediate)
  assert.equal(isCreated, false, 'what the killed process wrote could still come behind what is written now')
  stuck.resolve()
  await waiting
  await helpers.create('home-of-ann', 'write')
})

// It measured for hours after the process that waited for it was killed, and no home in it could be removed.
test('a helper that still measures for a process that was killed is ended', async () => {
  const removals: string[] = []
  const engine = await engineWithHelperOf('home-of-ann', removals, Promise.resolve(), { 'berth.helper.task': 'du' })
  await new HelperContainers(engine, 'berth').free('')
  assert.deepEqual(removals, ['/containers/left by force'])
})

// Each start of Berth made the image anew, and left the earlier one in the engine without a name: 4,600 on a machine of
// tests, where a list of images took half a second.
test('the empty image of helpers is made once, and again when another image has its name', async () => {
  const zeros = createHash('sha256').update(Buffer.alloc(1024)).digest('hex')
  for (const [layers, made] of [
    [[], 1],
    [[`sha256:${zeros}`], 0],
    [[`sha256:${zeros}`, `sha256:${'0'.repeat(64)}`], 1],
  ] as const) {
    let imports = 0
    const client = {
      ask: async ({ path }: EngineCall) => (path.startsWith('/images/') ? { RootFS: { Layers: layers } } : []),
      download: async () => Buffer.alloc((imports += 1)),
    }
    await new HelperContainers(client as unknown as EngineClient, 'berth').free('')
    assert.equal(imports, made, layers.join())
  }
})

// After `docker image prune -a`, no home could be read or written until Berth was started anew.
test('an image of helpers that was removed is made anew once for all that need it, and helpers under way stay', async () => {
  let [hasImage, imports, lists] = [false, 0, 0]
  const ask = async ({ path, body }: EngineCall): Promise<unknown> => {
    if (path === '/containers/json') {
      lists++
      return []
    }
    if (path.startsWith('/images/')) return { RootFS: { Layers: [] } }
    const { Image } = body as { readonly Image: string }
    if (!hasImage) throw new RuntimeError('image', `no such image: ${Image}`)
    return { Id: 'made' }
  }
  const download = async () => {
    imports++
    hasImage = true
    return Buffer.alloc(0)
  }
  const stream = async () => (async function* () {})()
  const helpers = new HelperContainers({ ask, download, stream } as unknown as EngineClient, 'berth')
  await helpers.create('home-of-ann', 'read')
  hasImage = false
  await Promise.all([helpers.create('home-of-ann', 'read'), helpers.create('home-of-bob', 'write')])
  assert.deepEqual({ imports, lists }, { imports: 2, lists: 1 })
})

/** A stand-in for the client of an engine, which has a helper of a process that is gone. */
async function engineWithHelperOf(
  volume: string,
  removals: string[],
  removed: Promise<void>,
  labels: Readonly<Record<string, string>> = {},
): Promise<EngineClient> {
  const gone = spawn('true')
  await once(gone, 'exit')
  const left = { Id: 'left', Labels: { 'berth.helper.pid': String(gone.pid), ...labels }, Mounts: [{ Name: volume }] }
  const ask = async ({ method, path, query }: EngineCall): Promise<unknown> => {
    if (method === 'DELETE') {
      removals.push(query?.['force'] === '1' ? `${path} by force` : path)
      await removed
    }
    return path === '/containers/json' ? [left] : { Id: 'made' }
  }
  const stream = async () => (async function* () {})()
  return { ask, download: async () => Buffer.alloc(0), stream } as unknown as EngineClient
}
