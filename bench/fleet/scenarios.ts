import { setTimeout as sleep } from 'node:timers/promises'
import type { Answers, Load } from './load.ts'
import type { Fleetside } from './program.ts'
import { missedAnswers, none, type Expected } from './refusals.ts'
import { templatesWith, type Seeded } from './seed.ts'
import { measureUsage, type Usage } from './usage.ts'

/** The findings of one scenario. */
export interface Finding {
  readonly scenario: string
  readonly usage: Usage
  readonly answers: Answers
  /** Calls of the engine by kind, per second. */
  readonly calls: Readonly<Record<string, number>>
  /** Further figures, as text. */
  readonly notes: Readonly<Record<string, string>>
  /** Missed goals, as text. */
  readonly missed: readonly string[]
}

export interface Stage {
  readonly berth: Fleetside
  readonly seeded: Seeded
  readonly load: Load
  /**
   * Duration of `morning` in minutes; the other scenarios take a tenth, or two runs of the reconciler where they need
   * them.
   */
  readonly minutes: number
  /** A folder for CPU profiles of each scenario; undefined for none. */
  readonly profiles: string | undefined
}

/** Read requests per second, as of a campus by day. */
const looks = 40
const launchesPerMorning = 2_000
const [morningMinutes, stormRate, idlePause] = [10, 500, 30]
/** Goals of this benchmark; `inAll`: MB of both processes, shared pages counted once. */
const goals = { reconcilerCores: 0.2, run: 5_000, ready: 5_000, inAll: 400 }

interface SystemReport {
  readonly reconciler: {
    readonly duration_ms: number | null
    readonly last_run: string | null
    readonly failures: string[]
  }
}

/** In the order in which they run: the later ones leave paused containers. */
export const scenarios = { steady, looking, morning, reconnect, storm, restart, idle } as const

/** Without users; only the reconciler and other timers work. */
async function steady(stage: Stage): Promise<Finding> {
  const runs: SystemReport['reconciler'][] = []
  const finding = await observed('steady', stage, async () => {
    // Three runs of the reconciler, at an interval of 30 s.
    const end = performance.now() + 3 * 31_000
    while (performance.now() < end) {
      await sleep(10_000)
      const { reconciler } = await stage.load.askAdmin<SystemReport>('/api/admin/system')
      if (reconciler.last_run !== runs.at(-1)?.last_run) runs.push(reconciler)
    }
  })
  const maxDuration = Math.max(...runs.map(({ duration_ms }) => duration_ms ?? 0))
  const failures = [...new Set(runs.flatMap((run) => run.failures))]
  const { api } = finding.usage.cores
  return {
    ...finding,
    notes: {
      'longest run of the reconciler': `${maxDuration} ms`,
      ...(failures.length > 0 ? { 'left to do': failures.slice(0, 3).join('; ') } : {}),
    },
    missed: [
      ...finding.missed,
      ...(api > goals.reconcilerCores ? [`the API used ${percent(api)} of a core without users`] : []),
      ...(maxDuration > goals.run ? [`a run of the reconciler took ${maxDuration} ms`] : []),
      ...failures.slice(0, 3),
    ],
  }
}

/** Users read, list and launch running containers. */
async function looking(stage: Stage): Promise<Finding> {
  return observed('looking', stage, () => browsing(stage, stage.minutes * 6_000))
}

/** 2,000 users arrive within ten minutes, nine of ten to a sleeping container, and read meanwhile. */
async function morning(stage: Stage): Promise<Finding> {
  const { load, seeded, minutes } = stage
  const { containers, running } = seeded.size
  const sleeping = containers - running
  const perSecond = launchesPerMorning / (morningMinutes * 60)
  // One in ten has no container; at the smallest size, where nothing sleeps, none has.
  const comer = (each: number) => (each % 10 === 0 || each >= sleeping ? containers + 1 + each : running + 1 + each)
  return observed('morning', stage, async () => {
    const signal = AbortSignal.timeout(minutes * 60_000)
    const arrive = async (each: number) => {
      await load.ask('me', comer(each))
      await load.ask('list', comer(each))
      if (await load.ask('launch', comer(each))) await load.ask('page', comer(each))
    }
    await Promise.all([load.evenly(perSecond, signal, arrive), load.browse(looks, signal)])
  })
}

/** The engine is unreachable for five seconds; its containers keep running. */
async function reconnect(stage: Stage): Promise<Finding> {
  const { berth, load } = stage
  let [began, back] = [0, 0]
  const work = async () => {
    const away = berth.send({ kind: 'away', ms: 5_000 })
    const looked = browsing(stage, Math.max(15_000, stage.minutes * 6_000))
    await away
    began = performance.now()
    await until('a launch works', async () => (await load.ask('launch of what runs', 2)) && load.ask('page', 2))
    back = performance.now() - began
    await looked
  }
  // Without the engine nothing is launched, and after 3 s no page is passed on, because its address may be another container's.
  // Lists and `me` are answered all the time.
  const expected = (): Expected => ({ requests: ['launch of what runs', 'page'], until: began + goals.ready })
  const finding = await observed('reconnect', stage, work, expected)
  return { ...finding, notes: { 'launch and page again after': `${(back / 1000).toFixed(1)} s` } }
}

/** Containers end and are started again outside Berth, 250 a second: 500 events. */
async function storm(stage: Stage): Promise<Finding> {
  let events = 0
  const ms = stage.minutes * 6_000
  const work = async () => {
    const [answer] = await Promise.all([
      stage.berth.send<{ events: number }>({ kind: 'storm', perSecond: stormRate, ms }),
      browsing(stage, ms),
    ])
    events = answer.events
  }
  // One whose program has just ended has no address until Berth has read that it was started again.
  const expected: Expected = { requests: ['launch of what runs', 'page'], share: 0.01 }
  const finding = await observed('storm', stage, work, () => expected)
  return { ...finding, notes: { events: String(events) } }
}

/** Both processes are killed and started again; ready means that a user's page is served, too. */
async function restart(stage: Stage): Promise<Finding> {
  const times: number[] = []
  for (let each = 0; each < 3; each++) {
    const began = performance.now()
    await stage.berth.restart()
    await until('a page comes', () => stage.load.ask('page', 3))
    times.push(performance.now() - began)
  }
  const maxDuration = Math.max(...times)
  const finding = await observed('restart', stage, () => browsing(stage, 10_000))
  return {
    ...finding,
    notes: { 'ready again after': times.map((ms) => `${(ms / 1000).toFixed(1)} s`).join(', ') },
    missed: [
      ...finding.missed,
      ...(maxDuration > goals.ready ? [`it was ready again after ${(maxDuration / 1000).toFixed(1)} s`] : []),
    ],
  }
}

/** 1,500 users stop using their containers at once, and all idle containers are paused. */
async function idle(stage: Stage): Promise<Finding> {
  const { berth, seeded } = stage
  await berth.restart({ CONTAINER_TEMPLATES: templatesWith(seeded.fleet.appPort, idlePause) })
  const wanted = Math.min(1_500, seeded.size.running)
  let [took, paused] = [0, 0]
  const finding = await observed('idle', stage, async () => {
    const began = performance.now()
    while (paused < wanted && performance.now() - began < 180_000) {
      await sleep(1_000)
      const states = await berth.send<Record<string, number>>({ kind: 'states' })
      // A cluster pauses nothing, and has no stopped pods.
      paused = states.paused ?? states.gone ?? 0
      if (paused === 0) took = performance.now()
    }
    took = performance.now() - took
  })
  return {
    ...finding,
    notes: { 'paused, and within': `${paused}, ${(took / 1000).toFixed(0)} s` },
    missed: [...finding.missed, ...(paused < wanted ? [`only ${paused} of ${wanted} were paused`] : [])],
  }
}

/** Waits for the first run of the reconciler, which belongs to `restart` only. */
export async function settled(stage: Pick<Stage, 'load'>): Promise<void> {
  const end = performance.now() + 60_000
  const { load } = stage
  while (performance.now() < end) {
    const report = await load.askAdmin<SystemReport>('/api/admin/system').catch(() => undefined)
    if (report?.reconciler.last_run) return sleep(5_000)
    await sleep(500)
  }
}

/** Polls until `isSo` holds. @throws {Error} after two minutes */
async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const began = performance.now()
  while (!(await isSo())) {
    if (performance.now() - began > 120_000) throw new Error(`not within two minutes: ${what}`)
    await sleep(10)
  }
}

async function browsing({ load }: Stage, ms: number): Promise<void> {
  await load.browse(looks, AbortSignal.timeout(ms))
}

/** @param expected what may be refused, asked for after the work */
async function observed(
  scenario: string,
  stage: Stage,
  work: () => Promise<void>,
  expected: () => Expected = () => none,
): Promise<Finding> {
  const { berth, load, profiles } = stage
  load.take()
  await berth.send({ kind: 'counts' })
  const size = stage.seeded.size.containers
  const fileOf = (which: string) => `${profiles}/${scenario}-${size}-${which}.cpuprofile`
  if (profiles) for (const which of ['gateway', 'api'] as const) await berth.probe(which, `profile ${fileOf(which)}`)
  const end = await measureUsage(berth)
  await work()
  const usage = await end()
  if (profiles) for (const which of ['gateway', 'api'] as const) await berth.probe(which, 'profiled')
  const { calls } = await berth.send<{ calls: Record<string, number> }>({ kind: 'counts' })
  const unknown = Object.keys(calls).filter((name) => name.startsWith('unknown'))
  const answers = load.take()
  return {
    scenario,
    usage,
    answers,
    calls: Object.fromEntries(Object.entries(calls).map(([name, count]) => [name, count / usage.seconds])),
    notes: {},
    missed: [
      ...(usage.inAll > goals.inAll ? [`both processes together had ${usage.inAll.toFixed(0)} MB`] : []),
      ...missedAnswers(answers, expected()),
      ...unknown.map((name) => `the stand-in does not know a call (${name})`),
    ],
  }
}

const percent = (cores: number) => `${(cores * 100).toFixed(0)} %`
