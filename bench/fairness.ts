import { setTimeout as sleep } from 'node:timers/promises'
import { LaunchQueue } from '../server/src/containers/launch/launch-queue.ts'
import { report } from './figures.ts'

/**
 * How long the members of small courses wait while a large class launches: `npm run bench:fairness`. The launch queue is the
 * real one; the work of the engine is a pause, a twentieth as long as measured (decision 017: 2.6 launches a second with four
 * slots, 1.5 s in a slot). Times are given as on that machine. Exit code 1 when a member waits longer than the bound.
 */
const slots = 4
/** Time of a launch in its slot, in ms, and by how much shorter it is here. */
const [slotTime, compression] = [1_540, 20]
/** After the class, in ms as on that machine. */
const lateness = 2_000
/** What timers and a busy machine may add to a bound, as a factor. */
const tolerance = 1.25

interface Course {
  readonly name: string
  readonly members: number
}

interface Waits {
  /** Of each course's last member, in ms. */
  readonly last: ReadonlyMap<string, number>
  readonly all: number
}

/** The class first, the other courses a moment later. @param isFair whether launches name the flow of their course */
async function run(courses: readonly Course[], isFair: boolean): Promise<Waits> {
  const queue = new LaunchQueue({ parallel: slots, ping: async () => undefined })
  const [first, ...others] = courses
  if (!first) throw new Error('no course')
  const began = performance.now()
  const last = new Map<string, number>()
  let userId = 0
  const launch = async ({ name }: Course): Promise<void> => {
    const asked = performance.now()
    const request = {
      owned: { userId: ++userId, type: 'lab' },
      image: 'app',
      needsImage: false,
      isLowPriority: false,
      onPosition: () => undefined,
      onPull: () => undefined,
      mayGoOn: async () => undefined,
      ...(isFair && { flowsOf: async () => [name] }),
    }
    await queue.run(request, () => sleep(slotTime / compression))
    last.set(name, Math.max(last.get(name) ?? 0, performance.now() - asked))
  }
  const launchAll = (course: Course) => Array.from({ length: course.members }, () => launch(course))
  const launches = launchAll(first)
  await sleep(lateness / compression)
  await Promise.all([...launches, ...others.flatMap(launchAll)])
  return { last, all: performance.now() - began }
}

/**
 * In the worst case each course has one turn before each of its members', beside the launches that hold the slots; the work of a
 * slot is one launch.
 */
const boundOf = (members: number, courses: number) => ((members * courses + slots) / slots + 1) * slotTime
const seconds = (ms: number) => `${((ms * compression) / 1_000).toFixed(1)} s`

async function compare(title: string, courses: readonly Course[]): Promise<boolean> {
  const [before, after] = [await run(courses, false), await run(courses, true)]
  const figures = courses.slice(0, 3).map(({ name }): [string, string] => {
    const [unfair, fair] = [before.last.get(name) ?? 0, after.last.get(name) ?? 0]
    return [`last of ${name}`, `${seconds(unfair)} first come, first served; ${seconds(fair)} with turns`]
  })
  const small = courses.slice(1).map(({ name, members }) => ({
    waited: (after.last.get(name) ?? 0) * compression,
    bound: boundOf(members, courses.length) * tolerance,
  }))
  const isHeld = small.every(({ waited, bound }) => waited <= bound)
  const bound = Math.max(...small.map((each) => each.bound))
  const all = `${seconds(before.all)}; ${seconds(after.all)}`
  report(title, {
    ...Object.fromEntries(figures),
    all,
    bound: `${(bound / 1_000).toFixed(1)} s: ${isHeld ? 'held' : 'MISSED'}`,
  })
  return isHeld
}

const small = (count: number): Course[] =>
  Array.from({ length: count }, (_, at) => ({ name: `course ${at + 1}`, members: 5 }))
const results = [
  await compare('A class of 200, and 5 members of another course two seconds later', [
    { name: 'class', members: 200 },
    ...small(1),
  ]),
  await compare('A class of 200, and ten courses of 5', [{ name: 'class', members: 200 }, ...small(10)]),
  await compare('A year of 1,000, and 5 members of another course', [{ name: 'year', members: 1_000 }, ...small(1)]),
]
process.exitCode = results.every(Boolean) ? 0 : 1
