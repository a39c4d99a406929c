import { startBerth, type Person } from '../server/test/support/berth.ts'
import { launchDirectly, recipeOf, removeDirectly } from './engine-direct.ts'
import { median, milliseconds, report, timed } from './figures.ts'
import { measureInBrowser } from './launch-in-browser.ts'
import { signUpAll } from './sign-up-all.ts'
import { BenchLifetime } from './lifetime.ts'

/**
 * Berth's overhead over the engine's own time: `npm run bench:launch [pairs] [crowd] [clicks]`. Berth and the bare engine
 * alternate in one run, because a machine's speed varies. Last, clicks in Chromium.
 */
const pairs = Number(process.argv[2] ?? 30)
const crowd = Number(process.argv[3] ?? 50)
const clicks = Number(process.argv[4] ?? 15)

await using lifetime = new BenchLifetime()
let engineCalls = 0
const berth = await startBerth(lifetime, {
  wrapRuntime: (runtime) =>
    new Proxy(runtime, {
      get(target, name, receiver) {
        const verb: unknown = Reflect.get(target, name, receiver)
        if (typeof verb === 'function') engineCalls++
        return verb
      },
    }),
})
const people = await signUpAll(berth, Math.max(pairs, crowd))
await oneByOne(people.slice(0, pairs))
await whenRunning(people[0] as Person)
await allAtOnce(people.slice(0, crowd))
await lifetime.end()
await measureInBrowser(clicks)

/** The dev containers exist already; prod is launched for the first time, then removed again. */
async function oneByOne(people: readonly Person[]): Promise<void> {
  const recipe = await recipeOf((await launch(people[0] as Person)).id)
  const through: number[] = []
  const direct: number[] = []
  for (const [index, person] of people.entries()) {
    const name = `${berth.installation}-direct-${index}`
    const viaBerth = async () => {
      await takeAway(person)
      const { ms, id } = await launch(person)
      through.push(ms)
      await removeDirectly(id)
    }
    const viaEngine = async () => {
      const { ms, value } = await timed(() => launchDirectly(name, recipe(name)))
      direct.push(ms)
      await removeDirectly(value)
    }
    for (const turn of index % 2 === 0 ? [viaBerth, viaEngine] : [viaEngine, viaBerth]) await turn()
  }
  report('launch, one by one', {
    pairs: people.length,
    'berth, median': milliseconds(median(through)),
    'engine alone, median': milliseconds(median(direct)),
    'ratio (at most 1.15)': (median(through) / median(direct)).toFixed(3),
  })
}

async function whenRunning(person: Person): Promise<void> {
  await launch(person)
  const launches: number[] = []
  const lists: number[] = []
  for (let round = 0; round < 100; round++) {
    launches.push((await launch(person)).ms)
    lists.push((await timed(() => person.call('GET', '/api/user/containers'))).ms)
  }
  const before = engineCalls
  await person.call('GET', '/api/user/containers')
  report('when it runs already', {
    'launch, median (at most 5 ms)': milliseconds(median(launches)),
    'list of containers, median (at most 5 ms)': milliseconds(median(lists)),
    'engine calls of one list (at most 1)': String(engineCalls - before),
  })
}

async function allAtOnce(people: readonly Person[]): Promise<void> {
  const recipe = await recipeOf((await launch(people[0] as Person)).id)
  const through: number[] = []
  const direct: number[] = []
  for (let round = 0; round < 2; round++) {
    const viaBerth = async () => {
      await Promise.all(people.map(takeAway))
      const { ms, value } = await timed(() => Promise.all(people.map((person) => launch(person))))
      through.push(ms)
      const different = new Set(value.map(({ id }) => id)).size
      if (different !== people.length) throw new Error(`${people.length} people got ${different} containers`)
      await Promise.all(value.map(({ id }) => removeDirectly(id)))
    }
    const viaEngine = async () => {
      const names = people.map((_, index) => `${berth.installation}-crowd-${round}-${index}`)
      const { ms, value } = await timed(() => Promise.all(names.map((name) => launchDirectly(name, recipe(name)))))
      direct.push(ms)
      await Promise.all(value.map(removeDirectly))
    }
    for (const turn of round % 2 === 0 ? [viaBerth, viaEngine] : [viaEngine, viaBerth]) await turn()
  }
  report(`${people.length} people at once`, {
    'berth, total': through.map(milliseconds).join(', '),
    'engine alone, total': direct.map(milliseconds).join(', '),
    'ratio of the sums (at most 1.15)': (sum(through) / sum(direct)).toFixed(3),
  })
}

async function launch(person: Person): Promise<{ ms: number; id: string }> {
  const { ms, value } = await timed(() => person.call('POST', '/api/container/launch/prod'))
  if (value.status !== 200) throw new Error(`launch answered ${value.status}: ${value.text}`)
  return { ms, id: (value.body as { container_id: string }).container_id }
}

async function takeAway(person: Person): Promise<void> {
  const name = `${berth.installation}-${person.slug}-prod`
  const found = await berth.runtime.inspect(name)
  if (found) await removeDirectly(found.id)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
