import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { openDatabase } from '#/store/database.ts'
import { installationName } from '#/store/installation.ts'
import { removeInstance } from './support/engine.ts'

/** The program as an operator runs it: a process, its environment, its output and its exit code. */
const main = path.resolve(import.meta.dirname, '../src/main.ts')

interface Program {
  readonly process: ChildProcess
  readonly dataDir: string
  /** All that it has printed. */
  output(): string
  /** Resolves when this was printed. */
  said(pattern: RegExp): Promise<RegExpExecArray>
  /** Exit code. */
  ended(): Promise<number | null>
}

async function run(t: TestContext, env: Record<string, string>, given?: string): Promise<Program> {
  const dataDir = given ?? (await mkdtemp(path.join(tmpdir(), 'berth-program-')))
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env.PATH, PORT: '0', DATA_DIR: dataDir, ...env },
  })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => void (text += chunk))
  t.after(async () => {
    child.kill('SIGKILL')
    if (!given) await cleanUp(dataDir)
  })
  const said = async (pattern: RegExp) => {
    for (let match = pattern.exec(text); ; match = pattern.exec(text)) {
      if (match) return match
      if (child.exitCode !== null) throw new Error(`it ended without saying ${String(pattern)}: ${text}`)
      await Promise.race([once(child.stdout, 'data'), once(child, 'exit')])
    }
  }
  const ended = async () => {
    if (child.exitCode === null) await once(child, 'exit')
    return child.exitCode
  }
  return { process: child, dataDir, output: () => text, said, ended }
}

/** Its network carries the name that is in its store. */
async function cleanUp(dataDir: string): Promise<void> {
  const database = await openDatabase(null, dataDir)
  const instance = await installationName(database.db, () => 'none')
  await database.close()
  await removeInstance(instance)
  await rm(dataDir, { recursive: true })
}

test('every wrong setting is told at once, in words, and the exit code is 1', async (t) => {
  const program = await run(t, { PORT: 'x', LOG_LEVEL: 'loud', CONTAINER_TEMPLATES: '{"dev": {}}' })
  assert.equal(await program.ended(), 1)
  assert.match(program.output(), /PORT: must be a whole number/)
  assert.match(program.output(), /LOG_LEVEL: must be one of/)
  assert.match(program.output(), /dev: image must be text/)
})

test('with PORT=0 it picks a free port, prints it, says where mail goes, and answers there', async (t) => {
  const program = await run(t, {})
  const [, port] = await program.said(/Berth is ready: http:\/\/spawner\.berth\.localhost:(\d+)/)
  await program.said(/Mail is written to .*outbox/)
  assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
})

test('SIGTERM and SIGINT end it within 20 s with exit code 0, and a second start has the same keys and name', async (t) => {
  const first = await run(t, {})
  const [, port] = await first.said(/localhost:(\d+)/)
  const keys = await (await fetch(`http://127.0.0.1:${port}/api/.well-known/jwks.json`)).text()
  first.process.kill('SIGTERM')
  assert.equal(await first.ended(), 0)
  const second = await run(t, {}, first.dataDir)
  const [, again] = await second.said(/localhost:(\d+)/)
  assert.equal(await (await fetch(`http://127.0.0.1:${again}/api/.well-known/jwks.json`)).text(), keys)
  second.process.kill('SIGINT')
  assert.equal(await second.ended(), 0)
})

test("signing key and data folder are their owner's only", async (t) => {
  const program = await run(t, {})
  await program.said(/Berth is ready/)
  assert.equal((await stat(path.join(program.dataDir, 'signing-key.json'))).mode & 0o777, 0o600)
})

test('a port that is taken is said in a sentence', async (t) => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  t.after(() => squatter.close())
  const port = (squatter.address() as AddressInfo).port
  const program = await run(t, { PORT: String(port) })
  assert.equal(await program.ended(), 1)
  assert.match(program.output(), new RegExp(`port ${port} on 127\\.0\\.0\\.1 is taken; set PORT`))
})

test('without an engine it starts, says at /readyz which part is missing, and stops cleanly', async (t) => {
  const program = await run(t, { DOCKER_HOST: 'unix:///nowhere/docker.sock' })
  const [, port] = await program.said(/localhost:(\d+)/)
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  assert.equal(ready.status, 503)
  const { parts } = (await ready.json()) as { parts: { store: string; engine: string } }
  assert.equal(parts.store, 'ok')
  assert.notEqual(parts.engine, 'ok')
  program.process.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
})

test('the outbox prints the link and nothing else does: no token is in any other line', async (t) => {
  const program = await run(t, { LOG_LEVEL: 'trace' })
  const [, port] = await program.said(/localhost:(\d+)/)
  const body = JSON.stringify({ email: 'ann@x.org' })
  await fetch(`http://127.0.0.1:${port}/api/auth/signup`, { method: 'POST', body })
  const [, token = ''] = await program.said(/token=([\w-]+)/)
  const verified = await fetch(`http://127.0.0.1:${port}/api/auth/verify-signup?token=${token}`)
  const { access_token } = (await verified.json()) as { access_token: string }
  await fetch(`http://127.0.0.1:${port}/api/user/me`, { headers: { authorization: `Bearer ${access_token}` } })
  program.process.kill('SIGTERM')
  await program.ended()
  assert.equal(program.output().split(token).length - 1, 1)
  assert.ok(!program.output().includes(access_token))
})
