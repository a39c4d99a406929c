/**
 * `npm run bench:idle`: CPU time that the API process spends on `idle_probe` of 500 running containers, each of which is asked
 * every minute. The applications answer as Jupyter does with two kernels and a terminal, and by a time on a connection of its own, as code-server's
 * extension does. Goal for each: less than 0.2 % of a core. Other work on the machine lengthens CPU time too, but never shortens it, so that the least of
 * several windows counts; and the process is warm, as one is that has run for ten minutes.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { Activity } from '../server/src/containers/idle/activity.ts'
import { IdleProbes } from '../server/src/containers/idle/idle-probes.ts'
import { IdleTimeoutMonitor } from '../server/src/containers/idle/idle-timeout-monitor.ts'
import type { ContainerState } from '../server/src/containers/routes/container-state.ts'
import { dockerCapabilities } from '../server/src/engines/docker/docker-runtime.ts'
import type { Database } from '../server/src/store/database.ts'
import { Templates, type Template } from '../server/src/templates/template.ts'

const containers = 500
/** Seconds of a window, in which each container is asked once, and how many there are. */
const [windowTime, windows] = [60, 3]
/** Times that every container is asked before anything is measured, and ms between them. */
const [warmUps, warmUpPause] = [9, 2_500]
const goal = 0.002

if (process.send) await serve()
else await measure()

/** The applications, in a process of their own: all addresses of the loopback's network lead to one listener. */
async function serve(): Promise<void> {
  const now = () => new Date().toISOString()
  const server = createServer(({ url = '' }, response) => {
    const kernel = { id: 'f3b1c2', name: 'python3', last_activity: now(), execution_state: 'idle', connections: 1 }
    const terminal = { name: '1', last_activity: now() }
    if (url.endsWith('/status')) response.end(JSON.stringify({ usedAt: Date.now() }))
    else response.end(JSON.stringify(url.includes('/kernels') ? [kernel, { ...kernel, id: 'a0' }] : [terminal]))
  })
  server.keepAliveTimeout = 3_600_000
  server.listen(0, '0.0.0.0')
  await once(server, 'listening')
  process.send?.((server.address() as AddressInfo).port)
}

async function measure(): Promise<void> {
  const child = fork(import.meta.filename)
  const [port] = (await once(child, 'message')) as [number]
  const all = Array.from({ length: containers }, (_, at) => {
    return { userId: at + 1, type: 'lab', prefix: `user${at}-lab`, containerId: `c${at}` } as ContainerState
  })
  const where = ({ userId }: { userId: number }) => ({
    host: `127.0.${1 + (userId >> 8)}.${1 + (userId & 127)}`,
    port,
    containerId: `c${userId}`,
    isPaused: false,
  })
  const template = (idleProbe: Template['idleProbe']) =>
    ({
      type: 'lab',
      idlePause: 0,
      idleTimeout: 3_600,
      idleCpu: null,
      idleProbe,
      stripPrefix: false,
      scheme: 'http',
    }) as Template
  const templates = new Templates([template(null)])
  const routeSync = {
    *running() {
      for (const known of all) yield { known, isPaused: false }
    },
    isRunning: () => true,
    routeOf: (known: ContainerState) => ({ where: where(known) }) as never,
  }
  const activity = new Activity({} as Database)
  let answered = 0
  const told = (...[known, usedAt]: Parameters<Activity['told']>) => {
    if (usedAt !== undefined) answered += 1
    activity.told(known, usedAt)
  }
  const probes = new IdleProbes({
    templates,
    routeSync,
    activity: { told, forgetTold: (known) => activity.forgetTold(known) },
    hasOwnHost: false,
  })
  const monitor = new IdleTimeoutMonitor({
    templates,
    routeSync,
    idleSuspension: { suspend: async () => 'used' },
    activity,
    probes,
    runtime: { capabilities: dockerCapabilities, usage: async () => undefined },
    warnings: { warn: () => undefined, end: () => undefined, hasWarned: () => false },
    log: pino({ level: 'silent' }),
  })
  monitor.start()
  // Timers of the monitor let a process end.
  const alive = setInterval(() => undefined, 1_000)
  await sleep(5_000)
  const without = await cpuShare(windowTime)
  console.log(`${percent(without)} of a core without idle_probe`)
  for (const idleProbe of ['jupyter', { path: 'status', active: '/usedAt' }] as const) {
    templates.replace([template(idleProbe)])
    for (let time = 0; time < warmUps; time += 1) {
      for (const known of all) probes.askNow(known)
      await sleep(warmUpPause)
    }
    // From now on each of them has its own second of a minute.
    for (let second = 0; second < 60; second += 1) {
      for (const known of all.filter((_, at) => at % 60 === second)) probes.askNow(known)
      await sleep(1_000)
    }
    // Of each container the questions of a minute, however many of them fell into the window.
    const perMinute = () => (answered * 60) / windowTime / containers
    const costs = await shares(
      () => perMinute(),
      without,
      () => (answered = 0),
    )
    const cost = Math.min(...costs)
    console.log(
      `${percent(cost)} of a core for idle_probe: ${JSON.stringify(idleProbe)} of ${containers} containers (windows: ${costs.map(percent).join(', ')}; ${((cost * 60e6) / containers).toFixed(0)} µs for each question); goal: below ${percent(goal)}`,
    )
    if (!(cost < goal)) process.exitCode = 1
  }
  clearInterval(alive)
  monitor.stop()
  child.kill()
}

/** Shares of a core that windows took above `without`, each divided by what was done in it. */
async function shares(done: () => number, without: number, begin: () => void): Promise<number[]> {
  const all: number[] = []
  for (let at = 0; at < windows; at += 1) {
    begin()
    const share = await cpuShare(windowTime)
    all.push((share - without) / done())
  }
  return all
}

/** Share of a core that this process uses. @param seconds that are looked at */
async function cpuShare(seconds: number): Promise<number> {
  const before = process.cpuUsage()
  await sleep(seconds * 1_000)
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6 / seconds
}

function percent(share: number): string {
  return `${(share * 100).toFixed(3)} %`
}
