// Part of npm run test:more: a leader that is killed; `specification/environments/restart.test.ts` has one process.
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { openDatabase, readInstallationName } from '#/store/database.ts'
import { askEngine, testImage } from '../support/engine/engine.ts'
import { leftOf, removeBuilt } from '../support/environment-berth.ts'
import { waitFor } from '../support/program.ts'
import { severalNodes, type Node } from '../support/several-nodes.ts'
import { startPostgres, type Postgres } from '../support/store/postgres.ts'

/** Two nodes with the real engine, whose leader is killed while it builds, and while a version is tried. */

let postgres: Postgres
before(async () => (postgres = await startPostgres()))
after(() => postgres.stop())

const call = (method: string, body?: unknown): RequestInit => ({
  method,
  ...(body !== undefined && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
})

test('of a leader that is killed in a build or a trial nothing half made stays, and the next leader says so on the version', async (t) => {
  const base = await testImage()
  const usual = { port: 8080, memory: '64m', command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'] }
  const templates = { dev: { image: base, port: 8080, memory: '64m' }, course: { environment: 'course', ...usual } }
  const settings = { ENVIRONMENTS: 'admins', BUILD_MEMORY: '64m', CONTAINER_TEMPLATES: JSON.stringify(templates) }
  const nodes = await severalNodes(t, postgres, {}, settings)
  const first = await nodes.start()
  const store = await openDatabase(nodes.databaseUrl, '')
  const installation = await readInstallationName(store.db)
  await store.close()
  t.after(() => removeBuilt(installation))
  const second = await nodes.start()
  const boss = await nodes.signUp(first, 'boss@x.org')
  const ask = async (node: Node, target: string, init?: RequestInit) => {
    const headers = { ...init?.headers, authorization: `Bearer ${boss}` }
    return node.fetch(`/api/admin/environments${target}`, undefined, { ...init, headers })
  }
  const read = async (node: Node) => {
    const reply = await ask(node, '/course')
    return ((await reply.json()) as { environment: Environment }).environment
  }
  const build = async (node: Node, line: string) => {
    const source = { dockerfile: `FROM ${base}\nUSER 0\nRUN mkdir -p /www && echo one > /www/index.html\n${line}` }
    assert.equal((await ask(node, '/course', call('PATCH', { source }))).status, 200)
    assert.equal((await ask(node, '/course/build', call('POST'))).status, 202)
  }
  const leads = (node: Node) =>
    waitFor('the next leader', async () => (await ask(node, '/course').catch(() => undefined))?.status === 200, 30_000)
  const ready = (node: Node, number: number) =>
    waitFor(`version ${number}`, async () => (await read(node)).versions[0]?.state === 'ready', 60_000)
  const nothingElse = (...images: string[]) =>
    waitFor(
      `the engine has ${images.join() || 'nothing'} of builds`,
      async () => {
        const left = await leftOf(installation)
        return left.containers === 0 && left.images.join() === images.join()
      },
      90_000,
    )

  const name = { name: 'course', source: { base, run: ['true'] } }
  assert.equal((await ask(first, '', call('POST', name))).status, 200)
  await build(first, 'RUN sleep 600')
  await waitFor('a step runs', async () => (await leftOf(installation)).containers > 0, 60_000)
  await first.killAll()
  await leads(second)
  const [failed] = (await read(second)).versions
  assert.deepEqual([failed?.version, failed?.state], [1, 'failed'])
  assert.match(failed?.error ?? '', /^Berth was stopped while this version was being built/)
  await nothingElse()

  // The next leader builds the next version, and is killed while it is tried.
  await build(second, 'USER 1000')
  await ready(second, 2)
  const third = await nodes.start()
  const image = `berth.invalid/${installation}/course:2`
  const tried = async () => {
    const filters = JSON.stringify({ label: [`berth.instance=${installation}`, 'berth.type=try-course-2'] })
    return askEngine<{ Id: string }[]>('GET', '/containers/json', { query: { all: 'true', filters } })
  }
  const begun = ask(second, '/course/versions/2/try', call('POST')).catch(() => undefined)
  await waitFor('the container of the trial', async () => (await tried()).length > 0, 60_000)
  await second.killAll()
  await begun
  await leads(third)
  const { trial, versions } = await read(third)
  assert.equal(versions.find(({ version }) => version === 2)?.state, 'ready')
  // What was stored before its container was made is whole again, or over.
  assert.ok(trial === null || trial.version === 2)
  if (trial) assert.equal((await ask(third, '/course/trial', call('DELETE'))).status, 200)
  await waitFor('the container of the trial is gone', async () => (await tried()).length === 0, 90_000)
  assert.equal((await read(third)).trial, null)
  const again = await ask(third, '/course/versions/2/try', call('POST'))
  assert.equal(again.status, 200, await again.text())
  const shown = await third.fetch('/boss-try-course-2/', boss)
  assert.equal((await shown.text()).trim(), 'one')
  assert.equal((await ask(third, '/course/trial', call('DELETE'))).status, 200)
  await nothingElse(image)
})
