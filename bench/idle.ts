/**
 * `npm run bench:idle`: CPU time that the API process spends on `idle_probe` of 500 running containers, each of which is asked
 * every minute and answers as Jupyter does with two kernels and a terminal. Goal: less than 0.2 % of a core.
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
/** Seconds that are measured, after a minute in which every container is asked for the first time. */
const measured = 60

if (process.send) await serve()
else await measure()

/** The applications, in a process of their own: all addresses of the loopback's network lead to one listener. */
async function serve(): Promise<void> {
  const now = () => new Date().toISOString()
  const server = createServer(({ url = '' }, response) => {
    const kernel = { id: 'f3b1c2', name: 'python3', last_activity: now(), execution_state: 'idle', connections: 1 }
    const terminal = { name: '1', last_activity: now() }
    response.end(JSON.stringify(url.includes('/kernels') ? [kernel, { ...kernel, id: 'a0' }] : [terminal]))
  })
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
    ({ type: 'lab', idlePause: 0, idleTimeout: 3_600, idleCpu: null, idleProbe, stripPrefix: false }) as Template
  const templates = new Templates([template(null)])
  const routeSync = {
    *running() {
      for (const known of all) yield { known, isPaused: false }
    },
    isRunning: () => true,
    routeOf: (known: ContainerState) => ({ where: where(known) }) as never,
  }
  const activity = new Activity({} as Database)
  const monitor = new IdleTimeoutMonitor({
    templates,
    routeSync,
    idleSuspension: { suspend: async () => 'used' },
    activity,
    probes: new IdleProbes({ templates, routeSync, activity, hasOwnHost: false }),
    runtime: { capabilities: dockerCapabilities, usage: async () => undefined },
    warnings: { warn: () => undefined, end: () => undefined },
    log: pino({ level: 'silent' }),
  })
  monitor.start()
  // Timers of the monitor let a process end.
  const alive = setInterval(() => undefined, 1_000)
  const without = await cpuShare(30)
  templates.replace([template('jupyter')])
  await sleep(70_000)
  const told = all.filter((known) => activity.hasTold(known)).length
  const withProbes = await cpuShare(measured)
  console.log(`${told} of ${containers} containers have answered`)
  console.log(`${percent(without)} of a core without idle_probe, ${percent(withProbes)} with it`)
  console.log(
    `${percent(withProbes - without)} of a core for the probes of ${containers} containers; goal: below 0.2 %`,
  )
  clearInterval(alive)
  monitor.stop()
  child.kill()
  if (told < containers || withProbes - without > 0.002) process.exitCode = 1
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
