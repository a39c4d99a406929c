import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { assertOk, until } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { askEngine, testImage } from '../../support/engine/engine.ts'
import { openStream } from '../../support/event-stream.ts'
import { onlyLong, waitLimit } from '#test/support/extent.ts'

/** What fields of a template do to real containers. */

const image = await testImage()
const template = (fields: object) => ({ image, memory: '64m', ...fields })
const envOf = (templates: Record<string, object>) => ({ CONTAINER_TEMPLATES: JSON.stringify(templates) })
const serve = (script: string) => ['/bin/sh', '-c', `mkdir -p /tmp/w; ${script}\nexec httpd -f -p 8080 -h /tmp/w`]
test('Open leads where the template says, and entries of other types have no such field', async (t) => {
  const vnc = template({
    open_path: '/vnc.html?autoconnect=1',
    shm_size: '32m',
    command: serve('df -k /dev/shm > /tmp/w/shm'),
  })
  const berth = await startBerth(t, { env: envOf({ vnc, dev: template({}) }) })
  const ann = await berth.signUp('ann@x.org')
  const launched = await ann.call('POST', '/api/container/launch/vnc')
  assertOk(launched)
  assert.equal(launched.body.open_path, 'vnc.html?autoconnect=1')
  const { containers } = (await ann.call('GET', '/api/user/containers')).body
  assert.deepEqual(
    containers.map((each: object) => ('open_path' in each ? each.open_path : undefined)),
    ['vnc.html?autoconnect=1', undefined],
  )
  assert.match((await ann.call('GET', `/${ann.slug}-vnc/shm`)).text, / 32768 /)
})

test('what is asked of a container waits until its app answers its ready_path', async (t) => {
  // Its port is open from the first moment on.
  const script = `mkdir -p /tmp/w/cgi-bin
printf '#!/bin/sh\\n[ -e /tmp/up ] && printf "Status: 200 OK\\\\r\\\\n\\\\r\\\\nup" || printf "Status: 503 x\\\\r\\\\n\\\\r\\\\nnot yet"\\n' > /tmp/w/cgi-bin/ready
chmod +x /tmp/w/cgi-bin/ready
(sleep 3; touch /tmp/up) &`
  const dev = template({ ready_path: 'cgi-bin/ready', command: serve(script) })
  const berth = await startBerth(t, { env: envOf({ dev }) })
  const ann = await berth.signUp('ann@x.org')
  const answer = await ann.call('GET', `/${ann.slug}-dev/cgi-bin/ready`)
  assert.deepEqual([answer.status, answer.text], [200, 'up'])
})

const statusOf = async (person: Person) =>
  (await person.call('GET', '/api/user/containers')).body.containers[0].status as string

test('at the end of max_lifetime a container that is in use stops, its owner is warned, and can launch it again', async (t) => {
  const dev = template({ max_lifetime: 14, idle_timeout: 3_600 })
  const berth = await startBerth(t, { env: envOf({ dev }) })
  // The container starts between the two.
  const before = Date.now()
  const ann = await berth.signUp('ann@x.org')
  const started = Date.now()
  const stream = await openStream(berth, ann.token)
  t.after(() => stream.close())
  await until(async () => {
    await ann.call('GET', `/${ann.slug}-dev/`)
    return (await statusOf(ann)) === 'exited' || stream.events.some(({ data }) => data.status === 'asleep')
  })
  const lasted = Date.now() - before
  assert.ok(lasted >= 14_000 && Date.now() - started < waitLimit(14_000 + 30_000), `${lasted} ms`)
  const warning = stream.events.find(({ name }) => name === 'idle')
  assert.deepEqual([warning?.data.type, warning?.data.action, warning?.data.reason], ['dev', 'stop', 'lifetime'])
  const at = Date.parse(String(warning?.data.at)) - 14_000
  // The engine's clock and the start of a second.
  assert.ok(at > before - 1_000 && at < started + 1_000, String(warning?.data.at))
  assertOk(await ann.call('POST', '/api/container/launch/dev'))
  assert.equal(await statusOf(ann), 'running')
})

test(
  'at stop_at, a local time of TZ, a running container stops, and its owner is warned before',
  onlyLong,
  async (t) => {
    // Half an hour aside of UTC, without summer time.
    const TZ = 'Asia/Kolkata'
    const at = Math.floor((Date.now() + 60_000 + waitLimit(15_000)) / 60_000) * 60_000
    const stop_at = new Intl.DateTimeFormat('en-GB', { timeZone: TZ, hour: '2-digit', minute: '2-digit' }).format(at)
    assert.match(stop_at, /^\d\d:\d\d$/)
    const berth = await startBerth(t, { env: { ...envOf({ dev: template({ stop_at }) }), TZ } })
    const ann = await berth.signUp('ann@x.org')
    const stream = await openStream(berth, ann.token)
    t.after(() => stream.close())
    for (const end = Date.now() + waitLimit(120_000); (await statusOf(ann)) === 'running' && Date.now() < end;)
      await sleep(500)
    assert.equal(await statusOf(ann), 'exited')
    assert.ok(Date.now() >= at && Date.now() < at + waitLimit(30_000), `${Date.now() - at} ms after it`)
    const warning = stream.events.find(({ name }) => name === 'idle')
    assert.deepEqual([warning?.data.type, warning?.data.action], ['dev', 'stop'])
    assert.equal(Date.parse(String(warning?.data.at)), at)
  },
)

test('folders and volumes are mounted, read-only unless said otherwise, and a secret reaches its variable alone', async (t) => {
  const base = await mkdtemp(path.join(tmpdir(), 'berth-fields-'))
  const volume = `${path.basename(base)}-shared`.toLowerCase()
  t.after(() => askEngine('DELETE', `/volumes/${volume}`).catch(() => undefined))
  t.after(() => rm(base, { recursive: true, force: true }))
  await mkdir(path.join(base, 'data'))
  await writeFile(path.join(base, 'data/notes'), 'of the course')
  await writeFile(path.join(base, 'token'), 'hunter2-of-the-course\n')
  const script = `cat /data/notes > /tmp/w/notes; touch /data/new 2> /tmp/w/refusal; touch /home/berth/new && echo yes > /tmp/w/shared
printf '%s|' "$TOKEN" > /tmp/w/secret`
  const dev = template({
    home: null,
    mounts: [
      { source: { path: path.join(base, 'data') }, target: '/data' },
      { source: { volume }, target: '/home/berth', read_only: false },
    ],
    secrets: { TOKEN: { file: 'token' } },
    command: serve(script),
  })
  const env = { ...envOf({ dev }), ALLOWED_MOUNT_ROOTS: base, SECRETS_DIR: base, LOG_LEVEL: 'debug' }
  const berth = await startBerth(t, { env })
  const ann = await berth.signUp('ann@x.org')
  const read = async (file: string) => (await ann.call('GET', `/${ann.slug}-dev/${file}`)).text
  assert.equal(await read('notes'), 'of the course')
  assert.match(await read('refusal'), /Read-only file system/)
  assert.equal(await read('shared'), 'yes\n')
  assert.equal(await read('secret'), 'hunter2-of-the-course|')
  assert.deepEqual(await readdir(path.join(base, 'data')), ['notes'])
  const shown = JSON.stringify([(await ann.call('GET', '/api/user/containers')).body, berth.logs])
  for (const text of [shown, await readFile(path.join(berth.dataDir, 'berth.sqlite'), 'latin1')])
    assert.ok(!text.includes('hunter2'), 'the secret is shown, logged or stored')

  await writeFile(path.join(base, 'token'), 'changed')
  await ann.call('POST', '/api/container/stop/dev')
  assertOk(await ann.call('POST', '/api/container/launch/dev'))
  assert.equal(await read('secret'), 'changed|', 'it is read at each launch')
})
