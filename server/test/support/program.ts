import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installationName, openDatabase } from '#/store/database.ts'
import type { Lifetime } from './berth.ts'
import { compileCache } from './compile-cache.ts'
import { childrenOf } from './child-processes.ts'
import { removeInstallation } from './engine/engine.ts'
import { refuseSecrets } from './no-secrets.ts'
import { pauseBetweenLooks, waitLimit } from './extent.ts'

/** The program as an operator runs it: its processes, its environment, its output and its exit code. */
const main = path.resolve(import.meta.dirname, '../../../gateway/src/main.ts')

export interface Program {
  /** The gateway process. */
  readonly process: ChildProcess
  readonly dataDir: string
  /** Where it makes its run folder. */
  readonly temporary: string
  /** All that it has printed. */
  output(): string
  /** Resolves when this was printed. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  /** Exit code. */
  ended(): Promise<number | null>
  /** Process id of the API process that runs now. @throws when there is none */
  api(): number
  /** A request to it, once it listens; redirects are not followed. */
  fetch(target: string, token?: string, init?: RequestInit): Promise<Response>
}

/** Starts it on a free port. @param given a data folder of an earlier start */
export function runProgram(t: Lifetime, env: Record<string, string> = {}, given?: string): Program {
  const dataDir = given ?? mkdtempSync(path.join(tmpdir(), 'berth-program-'))
  const temporary = mkdtempSync(path.join(tmpdir(), 'berth-tmp-'))
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, TMPDIR: temporary, ...compileCache, ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  t.after(async () => {
    const api = childrenOf(child.pid)
    child.kill('SIGKILL')
    await gone(api)
    if (!given) await cleanUp(dataDir, env.DATABASE_URL ?? null)
    await rm(temporary, { recursive: true })
    refuseSecrets(text)
  })
  /** Leaves no listener behind: a program that logs every step would have a thousand. */
  const somethingHappens = async () => {
    const done = new AbortController()
    const { signal } = done
    const events = [
      once(child.stdout, 'data', { signal }),
      once(child.stderr, 'data', { signal }),
      once(child, 'exit', { signal }),
    ]
    await Promise.race(events).finally(() => done.abort())
    await Promise.allSettled(events)
  }
  const said = async (pattern: RegExp) => {
    for (let match = pattern.exec(text); ; match = pattern.exec(text)) {
      if (match) return match
      if (hasEnded()) throw new Error(`it ended without saying ${String(pattern)}: ${text}`)
      await somethingHappens()
    }
  }
  const ended = async () => {
    if (!hasEnded()) await once(child, 'exit')
    return child.exitCode
  }
  const api = () => {
    const [pid] = childrenOf(child.pid)
    if (pid === undefined) throw new Error('there is no API process')
    return pid
  }
  const ask: Program['fetch'] = async (target, token, init) => {
    const [, port] = await said(/listening on 127\.0\.0\.1:(\d+)/)
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` }
    return fetch(`http://127.0.0.1:${port}${target}`, { redirect: 'manual', headers, ...init })
  }
  return { process: child, dataDir, temporary, output: () => text, said, ended, api, fetch: ask }
}

/** Signs up, or in again, by the link that the log prints. @returns the token */
export async function signIn(program: Program, email: string, purpose: 'signup' | 'login' = 'signup'): Promise<string> {
  const before = program.output().length
  const body = JSON.stringify({ email })
  const headers = { 'content-type': 'application/json' }
  await program.fetch(`/api/auth/${purpose}`, undefined, { method: 'POST', body, headers })
  await waitFor('a link', () => /token=[\w-]+/.test(program.output().slice(before)))
  const [, token] = /token=([\w-]+)/.exec(program.output().slice(before)) ?? []
  const verified = await program.fetch(`/api/auth/verify-${purpose}?token=${token}`)
  if (verified.status !== 200) throw new Error(`verification answered ${verified.status}: ${await verified.text()}`)
  return ((await verified.json()) as { access_token: string }).access_token
}

/** Asks until it is so, see `pauseBetweenLooks`. @param limit in ms on two quick cores @throws when it has not become so by then */
export async function waitFor(what: string, isSo: () => boolean | Promise<boolean>, limit = 20_000): Promise<void> {
  const begun = performance.now()
  while (!(await isSo())) {
    const waited = performance.now() - begun
    if (waited > waitLimit(limit)) throw new Error(`not within ${limit} ms: ${what}`)
    await sleep(pauseBetweenLooks(waited))
  }
}

/** A zombie is gone: it holds nothing, and who reaps it is not our affair. */
export function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'))
  } catch {
    return false
  }
}

async function gone(pids: readonly number[]): Promise<void> {
  for (const pid of pids) {
    if (lives(pid)) process.kill(pid, 'SIGKILL')
    await waitFor(`the end of ${pid}`, () => !lives(pid))
  }
}

/** Its network carries the name that is in its store. */
async function cleanUp(dataDir: string, databaseUrl: string | null): Promise<void> {
  const database = await openDatabase(databaseUrl, dataDir)
  const installation = await installationName(database.db, () => 'none')
  await database.close()
  await removeInstallation(installation)
  await rm(dataDir, { recursive: true })
}
