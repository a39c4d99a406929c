import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { median, report } from './figures.ts'
import { cpuTime } from './gateway/usage.ts'
import { memoryOf, plainSum, sharedOnce } from './process-memory.ts'

/**
 * `npm start`, from the command to `/readyz` 200, when set-up has nothing to do: `npm run bench:start [rounds]`. Memory
 * is measured ten idle seconds after that: the resident size of each process, and of both together, where the file that
 * both map (Node itself) counts once; beside it the plain sum, and the peak of the start. In the last round the CPU time of a minute is measured that begins when V8 has
 * collected the garbage of the start: its memory reducer does so 14 to 17 s after `/readyz`, in 120 ms. Ends with code 1
 * when memory or CPU exceed their goals.
 */
const rounds = Number(process.argv[2] ?? 5)
const root = path.resolve(import.meta.dirname, '..')
const idle = 10_000
/** In ms after that. */
const collected = 10_000
const limit = 60_000
const port = 18_080

const seconds: number[] = []
const gateway: number[] = []
const api: number[] = []
const inAll: number[] = []
const plain: number[] = []
const peaks: { readonly gateway: number[]; readonly api: number[] } = { gateway: [], api: [] }
let cores = NaN
for (let round = 0; round < rounds; round++) {
  const started = performance.now()
  const npm = spawn('npm', ['start'], { cwd: root, env: { ...process.env, PORT: String(port) }, stdio: 'ignore' })
  const ended = new Promise((resolve) => npm.once('exit', resolve))
  await isReady(started)
  seconds.push((performance.now() - started) / 1000)
  await sleep(idle)
  const [first, second] = await serverProcesses()
  const [ofGateway, ofApi] = [memoryOf(first), memoryOf(second)]
  gateway.push(ofGateway.resident)
  api.push(ofApi.resident)
  inAll.push(sharedOnce([ofGateway, ofApi]))
  plain.push(plainSum([ofGateway, ofApi]))
  peaks.gateway.push(ofGateway.peak)
  peaks.api.push(ofApi.peak)
  if (round === rounds - 1) {
    await sleep(collected)
    cores = await coresIn(60_000, first)
  }
  npm.kill('SIGTERM')
  await ended
}
report('second npm start', {
  rounds,
  'until ready, median (at most 1.5 s)': `${median(seconds).toFixed(2)} s`,
  'gateway process resident when idle, median (at most 80 MB)': `${median(gateway).toFixed(0)} MB`,
  'API process resident when idle, median': `${median(api).toFixed(0)} MB`,
  'both together, shared pages counted once, median (at most 120 MB)': `${median(inAll).toFixed(0)} MB`,
  'plain sum of both, shared pages counted twice, median': `${median(plain).toFixed(0)} MB`,
  'peak of each since its start, medians': `${median(peaks.gateway).toFixed(0)}, ${median(peaks.api).toFixed(0)} MB`,
  'CPU of both in an idle minute (under 0.5 % of a core)': `${(cores * 100).toFixed(2)} %`,
})
process.exitCode = median(inAll) > 120 || cores >= 0.005 ? 1 : 0

/** CPU share of a program and its children. @param ms duration of the measurement */
async function coresIn(ms: number, pid: number): Promise<number> {
  const before = cpuTime(pid)
  await sleep(ms)
  return (cpuTime(pid) - before) / 1_000 / ms
}

async function isReady(started: number): Promise<void> {
  while (performance.now() - started < limit) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response?.status === 200) return
    await sleep(10)
  }
  throw new Error(`not ready within ${limit} ms`)
}

/** Ids of the gateway process and of the API process that it forked. */
async function serverProcesses(): Promise<[number, number]> {
  const { stdout } = await promisify(execFile)('pgrep', ['-n', '-f', 'gateway/src/main.ts'])
  const main = stdout.trim()
  const [child] = readFileSync(`/proc/${main}/task/${main}/children`, 'utf8').split(' ')
  if (!child) throw new Error('there is no API process')
  return [Number(main), Number(child)]
}
