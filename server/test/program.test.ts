// Part of npm run test:more: several programs.
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import path from 'node:path'
import { after, describe, test } from 'node:test'
import { localize } from '@berth/texts/localize.ts'
import { message } from '@berth/texts/localized-message.ts'
import { runCommand } from './support/command-line.ts'
import { runProgram, signIn, waitFor } from './support/program.ts'

test('every wrong setting is reported at once, in sentences, and the exit code is 1', async (t) => {
  const program = runProgram(t, { PORT: 'x', LOG_LEVEL: 'loud', CONTAINER_TEMPLATES: '{"dev": {}}' })
  assert.equal(await program.ended(), 1)
  assert.match(program.output(), /PORT: must be a whole number/)
  assert.match(program.output(), /LOG_LEVEL: must be trace, .* or silent/)
  assert.match(program.output(), /dev: image must be text/)
  const lines = program.output().trimEnd().split('\n')
  assert.equal(lines.length, 4, program.output())
  assert.deepEqual(readdirSync(program.temporary), [], 'its run folder is gone')
})

test('environments on a cluster are refused with words, before anything is started', async (t) => {
  const program = runProgram(t, { ENGINE: 'kubernetes', ENVIRONMENTS: 'managers' })
  assert.equal(await program.ended(), 1)
  assert.match(
    program.output(),
    /ENVIRONMENTS: images are built by a Docker Engine, and with ENGINE=kubernetes there is none/,
  )
})

describe('a start with nothing but a data folder', () => {
  // One program for four tests: each start takes more than a second of CPU time.
  const program = runProgram({ after }, { LOG_LEVEL: 'trace' })

  test('with PORT=0 it picks a free port, prints it, says where mail goes, and answers there', async () => {
    const [, port] = await program.said(/Berth is ready: http:\/\/spawner\.berth\.localhost:(\d+)/)
    await program.said(/Mail is written to .*outbox/)
    assert.equal((await fetch(`http://127.0.0.1:${port}/healthz`)).status, 200)
  })

  test("signing key and data folder are their owner's only", async () => {
    assert.equal((await stat(path.join(program.dataDir, 'signing-key.json'))).mode & 0o777, 0o600)
  })

  test('the outbox prints the link and nothing else does: no token is in any other line', async () => {
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
})

test('SIGTERM and SIGINT end it within 20 s with exit code 0, and a second start has the same keys and name', async (t) => {
  const first = runProgram(t)
  const [, port] = await first.said(/localhost:(\d+)/)
  const keys = await (await fetch(`http://127.0.0.1:${port}/api/.well-known/jwks.json`)).text()
  first.process.kill('SIGTERM')
  assert.equal(await first.ended(), 0)
  const second = runProgram(t, {}, first.dataDir)
  const [, again] = await second.said(/localhost:(\d+)/)
  assert.equal(await (await fetch(`http://127.0.0.1:${again}/api/.well-known/jwks.json`)).text(), keys)
  second.process.kill('SIGINT')
  assert.equal(await second.ended(), 0)
})

test('a template whose runtime the engine does not have is said in a sentence, and nothing is started', async (t) => {
  const CONTAINER_TEMPLATES = '{"dev": {"image": "x"}, "safe": {"image": "x", "runtime": "no-such-runtime"}}'
  const program = runProgram(t, { CONTAINER_TEMPLATES })
  assert.equal(await program.ended(), 1)
  assert.match(
    program.output(),
    /Berth could not start: the template "safe" asks for the runtime "no-such-runtime", which the engine does not have; it has .*runc/,
  )
})

test('a port that is taken is said in a sentence', async (t) => {
  const squatter = createServer().listen(0, '127.0.0.1')
  await once(squatter, 'listening')
  t.after(() => squatter.close())
  const port = (squatter.address() as AddressInfo).port
  const program = runProgram(t, { PORT: String(port) })
  assert.equal(await program.ended(), 1)
  assert.match(
    program.output(),
    new RegExp(`Berth could not start: port ${port} on 127\\.0\\.0\\.1 is taken; set PORT`),
  )
  assert.ok(!program.output().includes('started again'))
  assert.deepEqual(readdirSync(program.temporary), [], 'its run folder is gone')
})

test('without an engine it starts, says at /readyz which part is missing, and stops cleanly', async (t) => {
  const program = runProgram(t, { DOCKER_HOST: 'unix:///nowhere/docker.sock' })
  const [, port] = await program.said(/localhost:(\d+)/)
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`)
  assert.equal(ready.status, 503)
  const { parts } = (await ready.json()) as { parts: { store: string; engine: string } }
  assert.equal(parts.store, 'ok')
  assert.notEqual(parts.engine, 'ok')
  program.process.kill('SIGTERM')
  assert.equal(await program.ended(), 0)
})

test('a setting that switches a protection off is told at the start, by config check and on the system page', async (t) => {
  const settings = { REQUESTS_PER_MINUTE: '0' }
  const words = localize('en', message('findings.noRequestLimit'))
  const program = runProgram(t, settings)
  await program.said(/Berth is ready/)
  await waitFor('the warning in the log', () => program.output().includes(JSON.stringify(words)))
  const token = await signIn(program, 'boss@x.org')
  const system = await (await program.fetch('/api/admin/system', token)).json()
  assert.ok((system as { warnings: string[] }).warnings.includes(words))
  const dataDir = path.join(program.dataDir, 'unmade')
  const { stdout } = await runCommand({ ...settings, DATA_DIR: dataDir }, 'config', 'check', '--json')
  assert.deepEqual(JSON.parse(stdout).settings.warnings, [words])
})
