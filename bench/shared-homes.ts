import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import pLimit from 'p-limit'
import { homeVolume } from '../server/src/containers/container-name.ts'
import { homeLabels } from '../server/src/engines/docker/labels.ts'
import { startBerth, type Berth, type Person } from '../server/test/support/berth.ts'
import { askEngine, testImage } from '../server/test/support/engine/engine.ts'
import { execInContainer } from '../server/test/support/engine/exec-in-container.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * `npm run bench:homes [people] [launches]`: an installation in which each person has a home of each of two types, whose types
 * begin to share (`home_of: user`), end to share, and begin again. It fails where a home is lost or mistaken. Every fourth person has a
 * home of the second type alone. Volumes and store are real; root alone can write into volumes.
 */
const people = Number(process.argv[2] ?? 1_000)
const launches = Number(process.argv[3] ?? 3)
const types = ['one', 'two'] as const
type Type = (typeof types)[number]

/** Types of which the person has a home. */
const homesAtFirst = (index: number): readonly Type[] => (index % 4 === 3 ? ['two'] : types)

interface Home {
  readonly id: string
  readonly types: readonly string[]
  readonly is_former: boolean
}

const shown = ({ id, types: of, is_former }: Home) => ({ id, types: of, is_former })

await using lifetime = new BenchLifetime()
const base = { image: await testImage(), port: 8080, memory: '64m', home: '/home/berth' }
const settings = (fields: object) => ({
  // The first type starts with each sign-up, and this one is of a group without members.
  CONTAINER_TEMPLATES: JSON.stringify({
    staff: { ...base, groups: ['Staff'] },
    one: { ...base, ...fields },
    two: { ...base, ...fields },
  }),
  SNAPSHOTS: 'on',
})

let berth = await startBerth(lifetime, { env: settings({}) })
await measure()

async function measure(): Promise<void> {
  const everybody = await signUp(berth)
  const made = await timed(() => makeHomes(everybody))
  report(`${people} people, ${made.value} homes`, { 'made in': milliseconds(made.ms) })
  await phase('as they were', everybody, 'type', {})
  await phase('home_of: user', everybody, 'user', { home_of: 'user' })
  await phase('home_of: type', everybody, 'type', {})
  await phase('home_of: user again', everybody, 'user', { home_of: 'user' })
}

async function signUp(within: Berth): Promise<Person[]> {
  const some = pLimit(8)
  return Promise.all(
    Array.from({ length: people }, (_, each) => some(() => within.signUpWithoutContainer(`person${each}@bench.test`))),
  )
}

async function makeHomes(everybody: readonly Person[]): Promise<number> {
  const some = pLimit(8)
  const wanted = everybody.flatMap((person, index) => homesAtFirst(index).map((type) => ({ person, type })))
  await Promise.all(wanted.map(({ person, type }) => some(() => makeHome(person, type))))
  return wanted.length
}

async function makeHome({ id, slug }: Person, type: Type): Promise<void> {
  const { Mountpoint } = await askEngine<{ Mountpoint: string }>('POST', '/volumes/create', {
    body: {
      Name: homeVolume(berth.installation, id, slug, type),
      Labels: homeLabels(berth.installation, { userId: id, slug, type }),
    },
  })
  writeFileSync(path.join(Mountpoint, 'whose'), `${slug} ${type}`)
}

/** Restarts with other templates; then all look at "Your data", and some launch both types. */
async function phase(name: string, everybody: readonly Person[], mode: 'user' | 'type', fields: object): Promise<void> {
  const { dataDir, installation } = berth
  await berth.close()
  const start = await timed(async () => {
    berth = await startBerth(lifetime, { dataDir, installation, env: settings(fields) })
  })
  const some = pLimit(8)
  const looks: number[] = []
  const all = await timed(() =>
    Promise.all(
      everybody.map((person, index) =>
        some(async () => {
          const { ms, value } = await timed(() => ask(person, 'GET', '/api/user/homes'))
          looks.push(ms)
          assert.deepEqual(value.homes.map(shown), mode === 'user' ? expected(person, index) : [], person.slug)
        }),
      ),
    ),
  )
  const starts: number[] = []
  for (const index of [0, 3, people - 1].slice(0, launches)) {
    const person = everybody[index]
    // A launch makes the home that is not there yet, and it would be listed.
    const launched = mode === 'user' ? types : homesAtFirst(index)
    if (person)
      for (const type of launched)
        starts.push(await launch(person, type, mode === 'user' ? homesAtFirst(index)[0] : type))
  }
  report(name, {
    start: milliseconds(start.ms),
    'everybody looks at their homes': milliseconds(all.ms),
    'one look, median': milliseconds(median(looks)),
    'one launch, median': milliseconds(median(starts)),
  })
}

/** The home of the first type that has one is the person's; the other one is listed behind it. */
function expected({ id, slug }: Person, index: number): Home[] {
  const [first, ...others] = homesAtFirst(index)
  const home = (type: Type | undefined, of: readonly string[], is_former: boolean) => {
    const volume = homeVolume(berth.installation, id, slug, type ?? '')
    return { id: createHash('sha256').update(volume).digest('hex').slice(0, 16), types: of, is_former }
  }
  return [home(first, types, false), ...others.map((type) => home(type, [type], true))]
}

/** @param of whose home it has to have @returns ms */
async function launch(person: Person, type: Type, of: Type | undefined): Promise<number> {
  const { ms, value } = await timed(() => ask(person, 'POST', `/api/container/launch/${type}`))
  assert.equal(await execInContainer(value.container_id, 'cat /home/berth/whose'), `${person.slug} ${of}`)
  await ask(person, 'POST', `/api/container/stop/${type}`)
  return ms
}

async function ask({ token }: Person, method: string, target: string) {
  const reply = await berth.call(method, target, { token })
  assert.equal(reply.status, 200, `${target}: ${reply.text}`)
  return reply.body
}
