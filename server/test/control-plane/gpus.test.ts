import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk, assertRefused, onEngine } from '#test/support/api-calls.ts'
import { startBerth, type Person } from '#test/support/berth.ts'
import { pollUntil } from '#test/support/control-plane.ts'
import { testImage } from '#test/support/engine/engine.ts'
import { startOwnEngine } from '#test/support/engine/own-engine.ts'
import { openStream } from '#test/support/event-stream.ts'

/**
 * GPUs of `GPU_IDS`, through HTTP, with a Docker Engine of its own and a stub of NVIDIA's hook: this machine has no GPU. The engine
 * starts the stub for each container with GPUs; it notes which ones the container was given, and puts no device into it.
 */
const programs = mkdtempSync('/tmp/berth-gpu-')
after(() => rmSync(programs, { recursive: true, force: true }))
const noted = path.join(programs, 'noted')
const hook = path.join(programs, 'nvidia-container-runtime-hook')
const findIds = `grep -o '"NVIDIA_VISIBLE_DEVICES=[^"]*' "$bundle/config.json" | head -n 1 | cut -d = -f 2`
writeFileSync(
  hook,
  `#!/bin/sh
state=$(cat)
id=$(echo "$state" | sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
bundle=$(echo "$state" | sed 's/.*"bundle":"\\([^"]*\\)".*/\\1/')
echo "$id $(${findIds})" >> ${noted}
`,
)
chmodSync(hook, 0o755)

const engine = await startOwnEngine({ after }, { programs, options: { 'add-runtime': 'nvidia=runc' } })
const app = { image: await testImage(), port: 8080, memory: '64m' }
const templates = {
  dev: { display_name: 'Development', ...app },
  lab: { display_name: 'Laboratory', ...app, gpus: 1 },
  gym: { display_name: 'Gym', ...app, gpus: 1 },
  // It is killed when the time of its stop is over.
  deaf: {
    display_name: 'Deaf',
    ...app,
    gpus: 1,
    command: ['/bin/sh', '-c', 'trap "" TERM; httpd -p 8080 -h /home/berth; while :; do sleep 0.1; done'],
  },
  duo: { display_name: 'Two GPUs', ...app, gpus: 2 },
}
const env = { CONTAINER_TEMPLATES: JSON.stringify(templates), GPU_IDS: '0,GPU-b' }
const first = await startBerth({ after }, { engine, env })
const admin = await first.administrator()
const people = async (...names: string[]) => {
  const all: Person[] = []
  for (const name of names) all.push(await first.signUpWithoutContainer(`${name}@x.org`))
  return all
}
const [ann, bob, cat, dan, fay] = (await people('ann', 'bob', 'cat', 'dan', 'fay')) as [
  Person,
  Person,
  Person,
  Person,
  Person,
]

const launch = (person: Person, type = 'lab') => person.call('POST', `/api/container/launch/${type}`)
const stop = (person: Person, type = 'lab') => person.call('POST', `/api/container/stop/${type}`)
const report = async () => (await admin.call('GET', '/api/admin/system')).body.gpus

/** What the stub noted at the last start of a container. */
const given = (id: string) =>
  readFileSync(noted, 'utf8')
    .split('\n')
    .findLast((line) => line.startsWith(`${id} `))
    ?.split(' ')[1]

/** Launches, and tells which ids the container was given. */
async function idsOf(launched: ReturnType<typeof launch>): Promise<string | undefined> {
  const reply = await launched
  assertOk(reply)
  return given(String(reply.body.container_id))
}

/** Launches, and waits until the owner is told that it waits for GPUs. */
async function launchIntoQueue(person: Person, type: string, place: number, waiting: number) {
  const stream = await openStream(first, person.token)
  const reply = launch(person, type)
  const expected = { type, stage: 'queued', place, waiting, waits_for: 'gpu' }
  await pollUntil(
    () => stream.events.some(({ name, data }) => name === 'launch' && equal(data, expected)),
    () => `not at ${place} of ${waiting}: ${stream.text()}`,
  )
  stream.close()
  return { reply }
}

const equal = (one: object, other: object) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort())

test('each GPU belongs to one container; a launch waits while all are taken, and those without GPUs pass', async () => {
  assert.deepEqual(await report(), { total: 2, in_use: 0, waiting: 0, containers: [] })
  assert.equal(await idsOf(launch(ann)), '0')
  assert.equal(await idsOf(launch(bob)), 'GPU-b')
  const catWaits = await launchIntoQueue(cat, 'lab', 1, 1)
  const danWaits = await launchIntoQueue(dan, 'duo', 2, 2)
  assertOk(await launch(fay, 'dev'))
  assert.deepEqual(await onEngine(first, cat.id), [])
  const { containers, ...counts } = await report()
  assert.deepEqual(counts, { total: 2, in_use: 2, waiting: 2 })
  assert.deepEqual(
    containers.map((each: { email: string; container_type: string; ids: string[] }) => Object.values(each)),
    [
      [ann.id, 'ann@x.org', 'lab', ['0']],
      [bob.id, 'bob@x.org', 'lab', ['GPU-b']],
    ],
  )
  assertOk(await stop(ann))
  assert.equal(await idsOf(catWaits.reply), '0')
  // It needs one GPU, and one will be free; but two were asked for before.
  const fayWaits = await launchIntoQueue(fay, 'lab', 2, 2)
  assertOk(await stop(bob))
  assert.equal((await report()).in_use, 1)
  assertOk(await stop(dan, 'duo'))
  assertRefused(await danWaits.reply, 500, ['reason'])
  assert.equal(await idsOf(fayWaits.reply), 'GPU-b')
})

test('a container keeps its GPUs when it is restarted, and gets them again after a stop if they are free', async () => {
  assert.equal(await idsOf(fay.call('POST', '/api/container/restart/lab')), 'GPU-b')
  assertOk(await stop(cat))
  assertOk(await stop(fay))
  assert.equal(await idsOf(launch(fay)), 'GPU-b', 'although the first one is free')
  // Of the one that was stopped another container has it now.
  assert.equal(await idsOf(launch(ann)), '0')
  assertOk(await stop(fay))
  assert.equal(await idsOf(launch(cat)), 'GPU-b')
})

// The launch that waited was refused, and the GPU of the blocked user stayed taken until Berth was started anew.
test('the GPU of a user who is blocked is that of the launch that waits, once the program has ended', async () => {
  assertOk(await stop(cat))
  assert.equal(await idsOf(launch(bob, 'deaf')), 'GPU-b')
  const catWaits = await launchIntoQueue(cat, 'lab', 1, 1)
  assertOk(await admin.call('POST', `/api/admin/users/${bob.id}/block`, { body: {} }))
  assert.equal(await idsOf(catWaits.reply), 'GPU-b')
  const { containers, in_use: inUse } = await report()
  assert.equal(inUse, 2)
  assert.deepEqual(containers.map(({ user_id: id }: { user_id: number }) => id).toSorted(), [ann.id, cat.id].toSorted())
})

test('a group limits the GPUs of the containers of a member together; those without GPUs are not concerned', async () => {
  const made = await admin.call('POST', '/api/admin/groups', { body: { name: 'Physics', limits: { gpus: 1 } } })
  assertOk(made)
  const { id, limits } = made.body.group
  assert.equal(limits.gpus, 1)
  const member = { emails: ['ann@x.org'], role: 'member' }
  assertOk(await admin.call('POST', `/api/groups/${id}/members`, { body: member }))
  for (const [type, why] of [
    ['gym', /allows the containers of a member 1 GPU together, and this one needs 1\. Stop another one first/],
    ['duo', /allows the containers of a member 1 GPU together, and this one alone needs 2/],
  ] as const) {
    const refused = await launch(ann, type)
    assertRefused(refused, 409, ['reason', 'limit', 'group'])
    assert.equal(refused.body.limit, 'gpus')
    assert.match(refused.body.error, why)
  }
  assertOk(await launch(ann, 'dev'))
})

test('containers that ran when the engine was restarted have the GPUs that they had', async () => {
  // In the order in which they were started.
  const users = async () => {
    const { containers } = (await report()) as { containers: { user_id: number }[] }
    return containers.toSorted((one, other) => one.user_id - other.user_id)
  }
  const before = await users()
  const startsOf = () => readFileSync(noted, 'utf8').trimEnd().split('\n')
  const known = startsOf().length
  await engine.stop()
  await engine.start()
  await pollUntil(
    () => startsOf().length >= known + 2,
    () => `${startsOf().length - known} of 2 started again`,
  )
  const ids = startsOf().map((line) => line.split(' ')[1])
  assert.deepEqual(ids.slice(known).toSorted(), ['0', 'GPU-b'])
  await pollUntil(
    async () => (await report()).in_use === 2,
    () => 'they are not in use',
  )
  assert.deepEqual(await users(), before)
})

test('after a restart of Berth they are still taken, and a launch that waits too long is refused with the reason', async (t) => {
  const { dataDir, installation } = first
  await first.close()
  const again = await startBerth(t, { engine, dataDir, installation, env: { ...env, GPU_WAIT: '1' } })
  const as = (person: Person) => (method: string, target: string) => again.call(method, target, { token: person.token })
  const refused = await as(fay)('POST', '/api/container/launch/lab')
  assertRefused(refused, 500, ['reason'])
  assert.equal(refused.body.reason, 'full')
  assert.match(refused.body.error, /^All GPUs are in use/)
  const { body } = await as(admin)('GET', '/api/admin/system')
  assert.deepEqual(
    body.gpus.containers.map((each: { user_id: number; ids: string[] }) => [each.user_id, ...each.ids]).sort(),
    [
      [ann.id, '0'],
      [cat.id, 'GPU-b'],
    ].sort(),
  )
  const metrics = await as(admin)('GET', '/metrics')
  for (const line of ['berth_gpus_in_use_max 2', 'berth_gpus_in_use 2', 'berth_launches_waiting_for_gpus 0'])
    assert.ok(metrics.text.split('\n').includes(line), line)
})
