import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { pollUntil } from '#test/support/control-plane.ts'
import { observationTime } from '#test/support/observation-time.ts'
import { EngineClient } from './engine-client.ts'
import { FolderVolumes } from './folder-volumes.ts'
import type { HelperContainers } from './helper-containers.ts'
import { folderLabels } from './labels.ts'

const installation = 'test'
const name = 'test-folder-1-0123456789'

/** An engine with one volume at most, which tells its mode and changes it as a test lets it. */
async function arrange(t: TestContext) {
  const engine = {
    mode: undefined as number | undefined,
    labels: folderLabels(installation),
    opening: async (): Promise<boolean> => true,
    isMounted: true,
    asked: [] as string[],
  }
  const server = createServer(async ({ method, url = '' }, response) => {
    const [, path = ''] = /^(?:\/v[\d.]+)?(\/[^?]*)/.exec(url) ?? []
    const answer = (status: number, body: object = {}) => response.writeHead(status).end(JSON.stringify(body))
    if (path === '/_ping') return void response.setHeader('api-version', '1.41').end('OK')
    engine.asked.push(`${method} ${path}`)
    if (path === '/volumes/create') return void answer(201, { mode: (engine.mode = 0o755) })
    if (method === 'PUT') {
      if (!(await engine.opening())) return void answer(500, { message: 'the engine is stopped' })
      engine.mode = 0o777
      return void answer(200)
    }
    if (engine.mode === undefined) return void answer(404, { message: `get ${name}: no such volume` })
    if (method === 'HEAD') {
      const status = JSON.stringify({ mode: 0x8000_0000 + engine.mode, size: 0 })
      return void response.setHeader('x-docker-container-path-stat', Buffer.from(status).toString('base64')).end()
    }
    if (method === 'DELETE') engine.mode = undefined
    answer(200, { Name: name, Labels: engine.labels })
  }).listen(0, '127.0.0.1')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  await once(server, 'listening')
  const helpers = {
    create: async () => ({
      archivePath: '/containers/helper/archive',
      folder: '/home',
      requireMounted: async () => assert.ok(engine.isMounted, 'the engine was stopped meanwhile'),
      remove: async () => undefined,
    }),
  } as unknown as HelperContainers
  const client = new EngineClient(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`)
  const askedFor = (method: string) => engine.asked.filter((each) => each.startsWith(`${method} `)).length
  return { engine, askedFor, volumes: new FolderVolumes({ client, installation, helpers }) }
}

// The second launch of a class took what the first had only created for open, and kept it from being removed after a failure.
test('a launch waits until the folder that another one has made is open', async (t) => {
  const { engine, askedFor, volumes } = await arrange(t)
  const opening = Promise.withResolvers<boolean>()
  engine.opening = () => opening.promise
  const first = volumes.ensure(name)
  await pollUntil(
    () => engine.mode !== undefined,
    () => 'the volume is not made',
  )
  let isDone = false
  const second = volumes.ensure(name).then(() => (isDone = true))
  await observationTime(50)
  assert.deepEqual([engine.mode, isDone], [0o755, false])
  opening.resolve(true)
  await Promise.all([first, second])
  assert.deepEqual([engine.mode, askedFor('PUT'), askedFor('HEAD')], [0o777, 1, 0])
})

// An engine that was stopped while a folder was opened left it closed, and every later launch took it for open.
test('a folder that could not be opened stays, and the next launch opens it', async (t) => {
  const { engine, askedFor, volumes } = await arrange(t)
  engine.opening = async () => false
  await assert.rejects(volumes.ensure(name), /open the folder/)
  await assert.rejects(volumes.ensure(name), /open the folder/)
  engine.opening = async () => true
  engine.isMounted = false
  await assert.rejects(volumes.ensure(name), /stopped meanwhile/)
  // What was written then went elsewhere.
  Object.assign(engine, { mode: 0o755, isMounted: true })
  await volumes.ensure(name)
  assert.deepEqual([engine.mode, askedFor('POST'), askedFor('DELETE')], [0o777, 1, 0])
})

test('one that is open is looked at once in each process, and is not written to', async (t) => {
  const { engine, askedFor, volumes } = await arrange(t)
  engine.mode = 0o777
  for (let launch = 0; launch < 3; launch++) await volumes.ensure(name)
  assert.deepEqual([askedFor('HEAD'), askedFor('PUT')], [1, 0])
  await volumes.remove(name)
  await volumes.ensure(name)
  assert.deepEqual([engine.mode, askedFor('PUT')], [0o777, 1])
})

test('one of another installation is neither opened nor removed', async (t) => {
  const { engine, volumes } = await arrange(t)
  Object.assign(engine, { mode: 0o755, labels: folderLabels('other') })
  await assert.rejects(volumes.ensure(name), { kind: 'conflict' })
  await volumes.remove(name)
  assert.equal(engine.mode, 0o755)
})
