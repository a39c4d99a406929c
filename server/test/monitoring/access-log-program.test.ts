// Part of npm run test:more: `gateway/access-log.test.ts` has the lines; this is the program that writes them.
import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { testTemplates } from '../support/berth.ts'
import { refuseSecrets } from '../support/no-secrets.ts'
import { lives, runProgram, signIn, waitFor } from '../support/program.ts'

test('the program logs requests to its file, opens it anew on SIGUSR2 to both processes, and writes no link', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-access-'))
  t.after(() => rm(folder, { recursive: true }))
  const file = path.join(folder, 'access.log')
  const program = runProgram(t, {
    ACCESS_LOG: 'json',
    ACCESS_LOG_FILE: file,
    CONTAINER_TEMPLATES: await testTemplates(),
  })
  const token = await signIn(program, 'ann@x.org')
  await program.fetch('/api/user/me', token)
  await waitFor('the line', () => readFileSync(file, 'utf8').includes('"/api/user/me"'))
  const text = readFileSync(file, 'utf8')
  assert.match(text, /"path":"\/api\/auth\/verify-signup\?\[redacted\]"/)
  refuseSecrets(text, [token])

  const api = program.api()
  renameSync(file, `${file}.1`)
  for (const pid of [program.process.pid ?? 0, api]) process.kill(pid, 'SIGUSR2')
  await waitFor('the new file', () => existsSync(file))
  await program.fetch('/healthz')
  await waitFor('the next line', () => readFileSync(file, 'utf8').includes('"/healthz"'))
  assert.ok(lives(api) && program.api() === api, 'the API process goes on')
})

test('on standard output lines of both processes stay whole', async (t) => {
  const program = runProgram(t, {
    ACCESS_LOG: 'json',
    LOG_LEVEL: 'debug',
    CONTAINER_TEMPLATES: await testTemplates(),
  })
  const [, port] = await program.said(/listening on 127\.0\.0\.1:(\d+)/)
  assert.ok(port)
  const ask = () => fetch(`http://127.0.0.1:${port}/api/user/me`).then((response) => response.arrayBuffer())
  for (let round = 0; round < 10; round++) await Promise.all(Array.from({ length: 100 }, ask))
  const entries = () =>
    program
      .output()
      .split('\n')
      .filter((line) => line.includes('"source":"api"'))
  await waitFor('all lines', () => entries().length >= 1_000)
  for (const line of program
    .output()
    .split('\n')
    .filter((each) => each.includes('{')))
    JSON.parse(line)
})
