import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { median, report } from './figures.ts'

/**
 * `npm start`, from the key to `/readyz` 200, when everything is set up already: `npm run bench:start [rounds]`.
 * Memory is the resident size of the server process, ten seconds after it became ready, nobody using it.
 */
const rounds = Number(process.argv[2] ?? 5)
const root = path.resolve(import.meta.dirname, '..')
const idle = 10_000
const limit = 60_000
const port = 18_080

const seconds: number[] = []
const megabytes: number[] = []
for (let round = 0; round < rounds; round++) {
  const started = performance.now()
  const npm = spawn('npm', ['start'], { cwd: root, env: { ...process.env, PORT: String(port) }, stdio: 'ignore' })
  const ended = new Promise((resolve) => npm.once('exit', resolve))
  await isReady(started)
  seconds.push((performance.now() - started) / 1000)
  await sleep(idle)
  megabytes.push(residentMegabytes(await serverProcess()))
  npm.kill('SIGTERM')
  await ended
}
report('second npm start', {
  rounds,
  'until ready, median (at most 1.5 s)': `${median(seconds).toFixed(2)} s`,
  'resident when idle, median (at most 120 MB)': `${median(megabytes).toFixed(0)} MB`,
})

async function isReady(started: number): Promise<void> {
  while (performance.now() - started < limit) {
    const response = await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined)
    if (response?.status === 200) return
    await sleep(10)
  }
  throw new Error(`not ready within ${limit} ms`)
}

async function serverProcess(): Promise<string> {
  const { stdout } = await promisify(execFile)('pgrep', ['-n', '-f', 'server/src/main.ts'])
  return stdout.trim()
}

function residentMegabytes(pid: string): number {
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
  return Number(kilobytes) / 1024
}
