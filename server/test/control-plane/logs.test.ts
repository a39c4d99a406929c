import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertOk, assertRefused, blockContainer, blockUser, recordOf } from '#test/support/api-calls.ts'
import { startBerth, testTemplates, type Person } from '#test/support/berth.ts'
import { outside, pollUntil } from '#test/support/control-plane.ts'
import { openStream, type OpenStream } from '#test/support/event-stream.ts'
import { endlessLogsRuntime, unreachableRuntime, type Fault } from '#test/support/engine/faulty-runtimes.ts'

/** An app that says two lines, one more at SIGUSR1, and its last at SIGUSR2; a signal before its first line would kill it. */
const talking = {
  command: [
    '/bin/sh',
    '-c',
    'trap "echo three" USR1; trap "echo four; exit 3" USR2; echo one; echo two >&2; while :; do sleep 0.1; done',
  ],
}

const deafness: Fault = { active: false }
const env = { CONTAINER_TEMPLATES: await testTemplates(talking) }
const berth = await startBerth({ after }, { env, wrapRuntime: (runtime) => unreachableRuntime(runtime, deafness) })
const admin = await berth.administrator()

const path = (query = '', type = 'dev') => `/api/container/logs/${type}${query}`
const openLogs = ({ token }: Person, query = '') => openStream(berth, token, { path: path(query) })
const containerOf = ({ auth }: Person) => auth.user.container_id ?? ''

const until = (stream: OpenStream, ...lines: string[]) =>
  pollUntil(
    () => lines.every((line) => stream.lines().includes(line)),
    () => `not ${lines.join(', ')} in: ${stream.text()}`,
  )

test('owners read what their app wrote, and each new line as it is written, until its program ends', async () => {
  const ann = await berth.signUp('ann@x.org')
  const id = containerOf(ann)
  const stream = await openLogs(ann)
  assert.deepEqual([stream.status, stream.contentType], [200, 'text/event-stream'])
  await until(stream, 'line one', 'line two')
  await outside.signal(id, 'SIGUSR1')
  await until(stream, 'line three')
  await outside.signal(id, 'SIGUSR2')
  await stream.ended
  assert.deepEqual(stream.lines().slice(2), ['line three', 'line four', 'end'])
})

test('of a program that has ended, and of a container that is blocked, what it wrote can still be read', async () => {
  const bob = await berth.signUp('bob@x.org')
  const first = await openLogs(bob)
  await until(first, 'line one', 'line two')
  await outside.signal(containerOf(bob), 'SIGUSR2')
  await until(first, 'line four', 'end')
  assertOk(await blockContainer(admin, (await recordOf(admin, bob.id)).id))
  const last = await openLogs(bob, '?lines=1')
  await last.ended
  assert.deepEqual(last.lines(), ['line four', 'end'])
})

test('a type that is not configured is 400, as are lines that are no number or too many; nothing to read is 404', async () => {
  const cat = await berth.signUp('cat@x.org')
  assertRefused(await cat.call('GET', path('', 'toaster')), 400)
  for (const lines of ['1001', '-1', 'all', '']) assertRefused(await cat.call('GET', path(`?lines=${lines}`)), 400)
  assertRefused(await cat.call('GET', path('', 'prod')), 404)
  await outside.remove(containerOf(cat))
  assertRefused(await cat.call('GET', path()), 404)
})

test('no user reads the logs of another one, administrators neither: a record that names the container gives no access', async () => {
  const dan = await berth.signUp('dan@x.org')
  const theirs = { container_id: containerOf(dan) }
  await berth.database.db.updateTable('user_containers').set(theirs).where('user_id', '=', admin.id).execute()
  assertRefused(await admin.call('GET', path()), 404)
})

test('streams end when their owner signs out or is blocked, and who is blocked opens no other', async () => {
  const [fay, gus] = [await berth.signUp('fay@x.org'), await berth.signUp('gus@x.org')]
  const [fays, guss] = [await openLogs(fay), await openLogs(gus)]
  assertOk(await fay.call('POST', '/api/auth/logout'))
  await fays.ended
  assertOk(await blockUser(admin, gus.id))
  await guss.ended
  assert.ok(!`${fays.text()}${guss.text()}`.includes('event: end'), 'it was not all there is')
  assertRefused(await gus.call('GET', path()), 403)
})

test('an engine that does not answer is 500', async () => {
  deafness.active = true
  assertRefused(await admin.call('GET', path()), 500)
  deafness.active = false
})

test('a user has at most five, beside the event streams; refused or closed ones do not count', async () => {
  const hal = await berth.signUp('hal@x.org')
  deafness.active = true
  for (let n = 0; n < 6; n++) assert.equal((await hal.call('GET', path())).status, 500)
  deafness.active = false
  const streams = await Promise.all(Array.from({ length: 5 }, () => openLogs(hal)))
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]))
  assertRefused(await hal.call('GET', path()), 429)
  streams.push(await openStream(berth, hal.token))
  assert.equal(streams.at(-1)?.status, 200)
  streams[0]?.close()
  await pollUntil(
    async () => {
      const next = await openLogs(hal)
      next.close()
      return next.status === 200
    },
    () => 'no room was made',
  )
  for (const stream of streams) stream.close()
})

test('an app that writes without end is read no faster than its reader, and only while it reads', async (t) => {
  const chat = { lines: 0, readers: 0 }
  const chatty = await startBerth(t, { wrapRuntime: (runtime) => endlessLogsRuntime(runtime, chat) })
  const joe = await chatty.signUp('joe@x.org')
  const began = performance.now()
  const stream = await openStream(chatty, joe.token, { path: path() })
  await pollUntil(
    () => stream.events.length > 1_000,
    () => `${stream.events.length} lines in 15 s`,
  )
  assert.ok(chat.lines <= 1_000 * Math.ceil((performance.now() - began) / 1_000 + 1), `${chat.lines} lines`)
  assert.equal(chat.readers, 1)
  stream.close()
  await pollUntil(
    () => chat.readers === 0,
    () => 'the reading goes on',
  )
})
