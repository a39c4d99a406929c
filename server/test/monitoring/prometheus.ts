import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import type { Lifetime } from '../support/berth.ts'
import { freePort } from '../support/free-port.ts'
import { waitFor } from '../support/program.ts'
import { folder } from './expressions.ts'

const execute = promisify(execFile)

/** Sample of an instant query. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  /** Unix time, and the number as text. */
  readonly value: readonly [number, string]
}

export interface Prometheus {
  /** @throws with Prometheus's words when it refuses the expression */
  query(expression: string): Promise<Sample[]>
  /** As the API answers, its `data`. */
  get<T>(endpoint: string): Promise<T>
}

/** A real Prometheus that scrapes these addresses and evaluates our alert rules every second. */
export async function startPrometheus(lifetime: Lifetime, targets: readonly string[]): Promise<Prometheus> {
  const data = await mkdtemp(path.join(tmpdir(), 'berth-prometheus-'))
  const file = path.join(data, 'prometheus.yml')
  await writeFile(
    file,
    JSON.stringify({
      global: { scrape_interval: '1s', evaluation_interval: '1s' },
      rule_files: [path.join(folder, 'alerts.yml')],
      scrape_configs: [{ job_name: 'berth', static_configs: [{ targets }] }],
    }),
  )
  const listen = `127.0.0.1:${await freePort()}`
  const args = [`--config.file=${file}`, `--storage.tsdb.path=${data}/tsdb`, `--web.listen-address=${listen}`]
  const child = spawn('prometheus', [...args, '--log.level=warn'], { stdio: ['ignore', 'inherit', 'inherit'] })
  lifetime.after(async () => {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
    await rm(data, { recursive: true, force: true })
  })
  const get = async <T>(endpoint: string): Promise<T> => {
    const response = await fetch(`http://${listen}/api/v1/${endpoint}`)
    const { data: answer, error } = (await response.json()) as { data: T; error?: string }
    if (error !== undefined) throw new Error(`${endpoint}: ${error}`)
    return answer
  }
  const isUp = () =>
    fetch(`http://${listen}/-/ready`).then(
      ({ ok }) => ok,
      () => false,
    )
  await waitFor('Prometheus', isUp)
  const query = async (expression: string) =>
    (await get<{ result: Sample[] }>(`query?query=${encodeURIComponent(expression)}`)).result
  return { get, query }
}

/** @throws with its output when it finds a fault */
export async function promtool(...args: readonly string[]): Promise<string> {
  const { stdout } = await execute('promtool', args, { cwd: folder })
  return stdout
}
