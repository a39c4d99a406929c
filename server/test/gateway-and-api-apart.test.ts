// Part of npm run test:more: two programs.
import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { installationName, openDatabase } from '#/store/database.ts'
import { compileCache } from './support/compile-cache.ts'
import { removeInstallation } from './support/engine/engine.ts'
import { signIn, waitFor } from './support/program.ts'
import { followResponse, tickingTemplates } from './support/ticking-app.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Gateway and API as two services, as a service manager starts them, with a real container. */

const source = (name: string) => path.resolve(import.meta.dirname, '../..', name)

/** Starts services of one installation; all of it is removed after the test. */
function createServices(t: TestContext) {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-apart-'))
  const [dataDir, linkDir, templates] = ['data', 'link', 'templates.json'].map((name) => path.join(folder, name)) as [
    string,
    string,
    string,
  ]
  mkdirSync(dataDir)
  writeFileSync(templates, tickingTemplates)
  const env = { PATH: process.env.PATH, BERTH_LINK_DIR: linkDir, ...compileCache }
  const apiEnv = { ...env, PORT: '0', DATA_DIR: dataDir, CONTAINER_TEMPLATES_FILE: templates }
  const running = new Set<ChildProcess>()
  let text = ''
  const start = (name: string, environment: NodeJS.ProcessEnv) => {
    const child = spawn(process.execPath, [source(name)], { env: environment })
    running.add(child)
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
    return child
  }
  t.after(async () => {
    for (const child of running) {
      child.kill('SIGKILL')
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
    }
    const database = await openDatabase(null, dataDir)
    const installation = await installationName(database.db, () => 'none')
    await database.close()
    await removeInstallation(installation)
    await rm(folder, { recursive: true })
  })
  const port = () => /listening on 127\.0\.0\.1:(\d+)/.exec(text)?.[1]
  const ask = (target: string, token?: string, init?: RequestInit) =>
    fetch(`http://127.0.0.1:${port()}${target}`, {
      redirect: 'manual',
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...init,
    })
  return {
    linkDir,
    output: () => text,
    startGateway: () => start('gateway/src/gateway-service.ts', env),
    startApi: () => start('server/src/start/api-process.ts', apiEnv),
    hasSaid: (words: string) => waitFor(words, () => text.includes(words)),
    isReady: () => waitFor('the first readiness', () => port() !== undefined, 60_000),
    fetch: ask,
  }
}

test(
  'while the API service is stopped, killed and started anew, containers answer and streams go on',
  onlyLong,
  async (t) => {
    const services = createServices(t)
    const { fetch } = services
    // The order does not matter: the API waits for the gateway.
    let api = services.startApi()
    services.startGateway()
    await services.isReady()
    const token = await signIn(services as unknown as Parameters<typeof signIn>[0], 'ann@x.org')
    await waitFor("Ann's container", async () => (await fetch('/ann-dev/', token)).status === 200)
    const stream = followResponse(await fetch('/ann-dev/ticks', token))

    for (const signal of ['SIGTERM', 'SIGHUP', 'SIGKILL'] as const) {
      const times = services.output().split('the API is back').length
      api.kill(signal)
      await once(api, 'exit')
      assert.equal((await fetch('/ann-dev/', token)).status, 200, `containers answer after ${signal}`)
      assert.equal((await fetch('/api/user/me', token)).status, 503)
      api = services.startApi()
      await waitFor('the API is back', () => services.output().split('the API is back').length > times)
      assert.equal((await fetch('/api/user/me', token)).status, 200)
      const before = stream.count()
      await waitFor('more of the stream', () => stream.count() > before)
      assert.ok(!stream.isOver())
    }
  },
)

// Where a service manager ends a container before it starts the next one, the API was away for 2.2 s: a process had to be loaded.
test('an API service that is started beside another one takes its place when that ends', onlyLong, async (t) => {
  const services = createServices(t)
  services.startGateway()
  const first = services.startApi()
  await services.isReady()
  const second = services.startApi()
  await services.hasSaid('another API process serves; this one takes its place when that ends')
  assert.equal((await services.fetch('/api/.well-known/jwks.json')).status, 200)
  first.kill('SIGTERM')
  const [code] = (await once(first, 'exit')) as [number | null]
  assert.equal(code, 0)
  await services.hasSaid('the API is back')
  assert.equal((await services.fetch('/api/.well-known/jwks.json')).status, 200)
  assert.equal(second.exitCode, null)
})

test('an API of another protocol is refused in words, and the API ends when the gateway does', async (t) => {
  const services = createServices(t)
  const gateway = services.startGateway()
  await services.hasSaid('the gateway waits for an API process')
  const stranger = connect(path.join(services.linkDir, 'gateway.sock'))
  t.after(() => stranger.destroy())
  stranger.on('error', () => {}).write(`${JSON.stringify({ call: 'loaded', args: [1] })}\n`)
  await waitFor('the refusal', () => /an API process is refused: it speaks version 1 /.test(services.output()))
  const api = services.startApi()
  await services.isReady()
  gateway.kill('SIGTERM')
  const [code] = (await once(api, 'exit')) as [number | null]
  assert.equal(code, 0)
})

// It emptied the folder, whatever was in it: /var/lib/berth in the place of /run/berth was the end of the store.
test('a gateway removes nothing but leftovers of Berth from the folder of the link, and refuses one that has more', async (t) => {
  const services = createServices(t)
  const files = ['berth.sqlite', 'api.sock', 'reader.sock', 'settings.json'].map((name) =>
    path.join(services.linkDir, name),
  )
  mkdirSync(services.linkDir)
  for (const file of files) writeFileSync(file, '')
  const refused = services.startGateway()
  const [code] = (await once(refused, 'exit')) as [number | null]
  assert.equal(code, 1)
  assert.match(services.output(), /BERTH_LINK_DIR is .*not of gateway and API: berth\.sqlite\. Name a folder/)
  assert.ok(files.every((file) => existsSync(file)))
  await rm(files[0] ?? '')
  services.startGateway()
  await services.hasSaid('the gateway waits for an API process')
  assert.deepEqual(readdirSync(services.linkDir), ['gateway.sock'])
})
