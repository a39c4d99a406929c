import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Lifetime } from '../berth.ts'
import type { CommandResult, Settings } from '../command-line.ts'
import { resultOf } from '../command-line.ts'
import { connectTo } from './engine.ts'
import { dockerdOptions, rareCollection } from './own-engine.ts'
import { waitLimit } from '../extent.ts'

/** A machine of its own as far as its network goes: an engine, and a firewall without rules of Berth. */
export interface NamespaceEngine {
  /** For `DOCKER_HOST`. */
  readonly address: string
  /** Runs a program there. */
  run(settings: Settings, program: string, ...args: string[]): Promise<CommandResult>
}

/** How long dockerd may take to answer and to end, in ms. */
const limit = waitLimit(60_000)

/** @returns why there can be none, in words, where this process may not make a namespace */
export async function startNamespaceEngine(lifetime: Lifetime): Promise<NamespaceEngine | string> {
  // Short, as in own-engine.ts.
  const folder = mkdtempSync('/tmp/berth-netns-')
  const words = dockerdOptions(folder, { 'shutdown-timeout': '10' })
  const script = `ip link set lo up && exec setpriv --pdeathsig TERM dockerd ${words.join(' ')}`
  const env = { GOGC: rareCollection, PATH: `${process.env.PATH}:/usr/sbin:/sbin` }
  const dockerd = spawn('unshare', ['--net', '--mount', 'sh', '-c', script], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
  })
  let log = ''
  dockerd.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-2_000)))
  lifetime.after(async () => {
    if (dockerd.exitCode === null) {
      dockerd.kill('SIGTERM')
      await once(dockerd, 'exit', { signal: AbortSignal.timeout(limit) })
    }
    await rm(folder, { recursive: true, force: true })
  })
  const address = `unix://${folder}/docker.sock`
  const ask = connectTo(address)
  const end = performance.now() + limit
  while (!(await ask('GET', '/info').then(Boolean, () => false))) {
    if (/Operation not permitted/.test(log)) return 'this process may not make a network namespace'
    if (dockerd.exitCode !== null || performance.now() > end) throw new Error(`dockerd did not start: ${log}`)
    await sleep(100)
  }
  return {
    address,
    run: (settings, program, ...args) => {
      const inside = ['--net', '--target', String(dockerd.pid), program, ...args]
      return resultOf(spawn('nsenter', inside, { env: { ...env, ...settings }, stdio: ['ignore', 'pipe', 'pipe'] }))
    },
  }
}

/** The shell commands of a page of docs that begin with these words. */
export function commandsIn(page: string, beginning: string): string {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../../../docs', page), 'utf8')
  const found = [...text.matchAll(/```\w*\n([^]*?)```/g)].find(([, block = '']) => block.startsWith(beginning))
  if (!found?.[1]) throw new Error(`${page} has no commands that begin with ${beginning}`)
  return found[1]
}
