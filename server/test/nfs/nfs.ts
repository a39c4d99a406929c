import assert from 'node:assert/strict'
import { chmodSync, readFileSync, readdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { waitLimit } from '#test/support/extent.ts'
import { waitFor } from '#test/support/program.ts'
import { openStream } from '#test/support/event-stream.ts'
import { startFileServer } from './file-server.ts'

/**
 * `npm run test:nfs`: homes on a real NFS server (contract, section 15) that squashes root, is away for a minute, and is replaced by one
 * for which all handles are stale.
 * It needs root and programs that `npm test` does not have, and fails by their names where they are missing.
 */

/** How long the file server is away, and how long any answer may take meanwhile, in ms. */
const [away, answerLimit] = [60_000, waitLimit(30_000)]

const ends: (() => Promise<unknown>)[] = []
const lifetime = { after: (end: () => Promise<unknown>) => void ends.push(end) }
after(async () => {
  for (const end of ends.toReversed()) await end()
})

const nfs = await startFileServer()
lifetime.after(() => nfs.close())
for (const name of ['open', 'squashed'] as const) chmodSync(nfs.served(name), 0o777)
const base = { image: await testImage(), port: 8080, memory: '64m' }
const on = (name: 'open' | 'squashed', create?: string) => ({
  ...base,
  home_source: { path: `${nfs.mounted(name)}/{slug}`, ...(create && { create }) },
})
const templates = {
  plain: base,
  home: on('open', '1000:1000'),
  squashed: on('squashed', '1000:1000'),
}
const berth = await startBerth(lifetime, {
  env: {
    CONTAINER_TEMPLATES: JSON.stringify(templates),
    ALLOWED_MOUNT_ROOTS: ['open', 'squashed'].map((name) => nfs.mounted(name as 'open' | 'squashed')).join(','),
  },
})
const [ann, ben] = [await berth.signUpWithoutContainer('ann@x.org'), await berth.signUpWithoutContainer('ben@x.org')]

const launch = (person: Person, type: string) => person.call('POST', `/api/container/launch/${type}`)
const stop = (person: Person, type: string) => person.call('POST', `/api/container/stop/${type}`)
const run = async (person: Person, type: string, script: string) => {
  const launched = await launch(person, type)
  assertOk(launched)
  return (await execInContainer(launched.body.container_id, script)).trim()
}
/** What the card of a type says last, as the events of the dashboard have it. */
async function cardOf(person: Person, type: string): Promise<unknown> {
  const stream = await openStream(berth, person.token)
  const last = () => stream.events.findLast(({ name, data }) => name === 'launch' && data.type === type)?.data
  await waitFor(`the card of ${type}`, () => last()?.stage === 'failed')
  stream.close()
  return last()?.message
}
/** Number of ESTALE, for which Node has no name. */
const staleHandle = 116
/** Number of the error with which a file cannot be looked at. */
function errorNumberOf(file: string): number | undefined {
  try {
    statSync(file)
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).errno
  }
}
const [silent, missing] = [/file server .* does not answer/, /home on a file server, is missing or cannot be used/]

test('a home is made on the file server with its owner, and the program writes there', async () => {
  await run(ann, 'home', 'echo first > /home/berth/file')
  const home = path.join(nfs.served('open'), ann.slug)
  const { uid, gid, mode } = statSync(home)
  assert.deepEqual([uid, gid, mode & 0o777], [1000, 1000, 0o700])
  assert.equal(readFileSync(path.join(home, 'file'), 'utf8'), 'first\n')
})

test('where root is squashed a launch that has to make the home is refused, says why, and leaves nothing behind', async () => {
  const refused = await launch(ann, 'squashed')
  assert.equal(refused.status, 500)
  assert.match(refused.body.error, missing)
  assert.equal(await cardOf(ann, 'squashed'), refused.body.error)
  assert.match(berth.logs.join(''), /cannot be given to 1000:1000: .* export it without root_squash/)
  assert.deepEqual(readdirSync(nfs.served('squashed')), [])
})

test('while the file server is away for a minute everything else works, its launches say so, and all goes on after it', async () => {
  nfs.goAway()
  try {
    const end = performance.now() + away
    const timed = async <T>(what: string, work: Promise<T>): Promise<T> => {
      const begun = performance.now()
      const done = await work
      const took = performance.now() - begun
      assert.ok(took < answerLimit, `${what} took ${Math.round(took)} ms`)
      return done
    }
    for (let round = 0; performance.now() < end; round++) {
      const refused = await timed('a refusal', launch(ben, 'home'))
      assert.equal(refused.status, 500)
      assert.match(refused.body.error, silent)
      assertOk(await timed('a launch', launch(ben, 'plain')))
      assertOk(await timed('a list', ann.call('GET', '/api/user/containers')))
      assert.equal((await timed('the health', berth.call('GET', '/healthz'))).status, 200)
      assertOk(await timed('a stop', stop(ben, 'plain')))
      if (round === 0) assert.match(String(await cardOf(ben, 'home')), silent)
    }
    assertOk(await timed('the stop of a container with its home there', stop(ann, 'home')))
    assert.match(berth.logs.join(''), new RegExp(`the file system at ${nfs.mounted('open')} does not answer`))
  } finally {
    nfs.comeBack()
  }
  while ((await launch(ann, 'home')).status !== 200) await sleep(1_000)
  assert.equal(await run(ann, 'home', 'cat /home/berth/file'), 'first')
  await run(ben, 'home', 'echo second > /home/berth/file')
})

test('when another server has taken its place, handles are stale: launches say so, the rest works, and all goes on once it is mounted again', async () => {
  const { body: launched } = await launch(ann, 'home')
  await nfs.replace('open')
  const home = path.join(nfs.mounted('open'), ann.slug)
  // What the kernel still has of the file system counts for a second.
  await waitFor('the handle is stale', () => errorNumberOf(home) === -staleHandle)
  // It runs on, with a working directory that is no more.
  await assert.rejects(execInContainer(launched.container_id, 'cat /home/berth/file'))
  const problem = async () => {
    const { body } = await ann.call('GET', '/api/user/containers')
    return body.containers.find(({ type }: { type: string }) => type === 'home').home_problem
  }
  await waitFor(
    'the card says so',
    async () => /lost its connection to your home/.test(String(await problem())),
    150_000,
  )
  // The folder of this machine is a good one again, and what the container has is not.
  chmodSync(nfs.served('open'), 0o777)
  await nfs.mountAgain('open')
  assert.match(await problem(), /lost its connection to your home/)
  await nfs.replace('open')
  assertOk(await stop(ann, 'home'))
  assert.equal(await problem(), undefined)
  await waitFor('the handle is stale', () => errorNumberOf(home) === -staleHandle)
  for (const person of [ann, ben]) {
    const refused = await launch(person, 'home')
    assert.equal(refused.status, 500)
    assert.match(refused.body.error, missing)
    assert.equal(await cardOf(person, 'home'), refused.body.error)
  }
  assert.match(berth.logs.join(''), /handle is stale .*mount it again/)
  assertOk(await launch(ben, 'plain'))
  assertOk(await ann.call('GET', '/api/user/containers'))
  assertOk(await stop(ben, 'plain'))

  chmodSync(nfs.served('open'), 0o777)
  await nfs.mountAgain('open')
  assert.equal(await run(ann, 'home', 'echo third > /home/berth/file && cat /home/berth/file'), 'third')
  assert.equal(readFileSync(path.join(nfs.served('open'), ann.slug, 'file'), 'utf8'), 'third\n')
  // What ran all the while has what was mounted before, until its owner restarts it, as the card says.
  assertOk(await ben.call('POST', '/api/container/restart/home', { body: {} }))
  await run(ben, 'home', 'echo fourth > /home/berth/file')
})
