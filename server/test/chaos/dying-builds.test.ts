// Part of npm run test:long: it dies at every step; `specification/environments/restart.test.ts` has one death.
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Environment } from '@berth/api/schemas/environments.ts'
import { buildCrashPoints } from '#/machine/crash-points.ts'
import { ownImagePrefix } from '#/engines/image-builds.ts'
import { openDatabase, readInstallationName } from '#/store/database.ts'
import { askEngine, testImage } from '../support/engine/engine.ts'
import { runProgram, signIn, waitFor } from '../support/program.ts'

/** The program with the real engine, which dies at each step of a build, of a publication and of a trial. */
const base = await testImage()
const templates = {
  course: {
    environment: 'course',
    port: 8080,
    memory: '64m',
    command: ['/bin/httpd', '-f', '-p', '8080', '-h', '/www'],
  },
}
const orders = path.join('/tmp', `berth-crash-orders-${process.pid}`)
const program = runProgram(
  { after },
  {
    ENVIRONMENTS: 'admins',
    ADMIN_EMAILS: 'boss@x.org',
    BERTH_CRASH_ORDERS: orders,
    CONTAINER_TEMPLATES: JSON.stringify(templates),
    BUILD_MEMORY: '64m',
    HOST_RULES: 'off',
  },
)
const token = await signIn(program, 'boss@x.org')
const store = await openDatabase(null, program.dataDir)
const installation = await readInstallationName(store.db)
await store.close()

async function ask(
  method: string,
  target: string,
  body?: unknown,
): Promise<{ status: number; environment: Environment | undefined }> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const reply = await program.fetch(`/api/admin/environments${target}`, undefined, init)
  const answer = (await reply.json().catch(() => undefined)) as { environment?: Environment } | undefined
  return { status: reply.status, environment: answer?.environment }
}
const environment = async () => (await ask('GET', '/course')).environment
const versions = async () => (await environment())?.versions ?? []

async function untilSettled(): Promise<void> {
  await waitFor(
    'all versions have ended',
    async () => {
      const all = await versions().catch(() => [])
      return all.length > 0 && all.every(({ state }) => state === 'ready' || state === 'failed')
    },
    60_000,
  )
}

/** Names of the images of builds, and how many containers of steps there are. */
async function left(): Promise<{ images: string[]; steps: number }> {
  const query = { all: 'true', filters: JSON.stringify({ label: [`berth.build=${installation}`] }) }
  const containers = await askEngine<{ Labels: Record<string, string> }[]>('GET', '/containers/json', { query })
  const images = await askEngine<{ Id: string; RepoTags: string[] | null }[]>('GET', '/images/json', {
    query: { filters: query.filters },
  })
  return {
    images: images.map(({ RepoTags, Id }) => RepoTags?.find((tag) => !tag.includes('<none>')) ?? Id).sort(),
    steps: containers.filter(({ Labels }) => !('berth.instance' in Labels)).length,
  }
}

/** Nothing but the images of versions that are ready stays in the engine. */
async function requireNothingHalf(): Promise<void> {
  const wanted = async () =>
    (await versions())
      .flatMap(({ version, state }) => (state === 'ready' ? `${ownImagePrefix(installation)}course:${version}` : []))
      .sort()
  await waitFor(
    'the engine has what versions need, and nothing else',
    async () => {
      const [found, names] = [await left(), await wanted().catch(() => ['?'])]
      return found.steps === 0 && found.images.join() === names.join()
    },
    90_000,
  )
}

async function dieAt(point: string, work: () => Promise<unknown>): Promise<void> {
  writeFileSync(orders, `${point} api`)
  await work().catch(() => undefined)
  await waitFor(`it dies at ${point}`, () => !existsSync(orders), 60_000)
  await waitFor(
    'it answers again',
    async () => (await ask('GET', '/course').catch(() => undefined))?.status === 200,
    60_000,
  )
}

test(
  'killed at each step of a build, a publication and a trial, nothing half made stays',
  { timeout: 900_000 },
  async (t) => {
    const source = { dockerfile: `FROM ${base}\nUSER 0\nRUN mkdir -p /www && echo one > /www/index.html\nUSER 1000` }
    assert.equal((await ask('POST', '', { name: 'course', source })).status, 200)
    for (const point of buildCrashPoints.filter(
      (each) => each.startsWith('build.') && each !== 'build.after-publish',
    )) {
      t.diagnostic(point)
      await dieAt(point, () => ask('POST', '/course/build'))
      await untilSettled()
      const [newest] = await versions()
      // What died before its end was stored has failed; the image of one that was stored is there.
      assert.equal(newest?.state, point === 'build.after-end' ? 'ready' : 'failed', point)
      await requireNothingHalf()
    }

    // While a step runs.
    await ask('PATCH', '/course', { source: { dockerfile: `FROM ${base}\nRUN sleep 600` } })
    assert.equal((await ask('POST', '/course/build')).status, 202)
    await waitFor('a step runs', async () => (await left()).steps > 0, 60_000)
    process.kill(program.api(), 'SIGKILL')
    await sleep(200)
    await untilSettled()
    await requireNothingHalf()

    await ask('PATCH', '/course', { source })
    assert.equal((await ask('POST', '/course/build')).status, 202)
    await untilSettled()
    const number = (await versions())[0]?.version
    await dieAt('try.after-store', () => ask('POST', `/course/versions/${number}/try`))
    await ask('DELETE', '/course/trial')
    assert.equal((await environment())?.trial, null)
    assert.equal((await ask('POST', `/course/versions/${number}/try`)).status, 200)
    await dieAt('try.after-end', () => ask('DELETE', '/course/trial'))
    const query = { all: 'true', filters: JSON.stringify({ label: [`berth.instance=${installation}`] }) }
    await waitFor(
      'the container of the trial is gone',
      async () => (await askEngine<{ Image: string }[]>('GET', '/containers/json', { query })).length === 0,
      90_000,
    )
    await dieAt('build.after-publish', () => ask('POST', `/course/versions/${number}/publish`))
    assert.equal((await environment())?.published, number)
    const launched = await program.fetch('/api/container/launch/course', token, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}` },
    })
    assert.equal(launched.status, 200, await launched.text())
    await requireNothingHalf()
  },
)
