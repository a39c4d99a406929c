import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { makeStore, noEngine, runCommand } from '#test/support/command-line.ts'
import { testTemplates } from '#test/support/berth.ts'
import { runProgram } from '#test/support/program.ts'
import { onlyLong } from '#test/support/extent.ts'

/** The program `berth doctor`, as an operator runs it. */

const folder = mkdtempSync(path.join(tmpdir(), 'berth-doctor-'))
after(() => rmSync(folder, { recursive: true, force: true }))

interface Report {
  readonly findings: readonly { readonly level: string; readonly check: string; readonly what: string }[]
  readonly not_checked: readonly { readonly check: string; readonly reason: string }[]
  readonly passed: readonly string[]
}

test('findings come the worst first, each with what mends it; the exit code says that there are some', async () => {
  const settings = { ...noEngine, DATA_DIR: path.join(folder, 'none'), BASE_DOMAIN: 'github.io' }
  const { code, stdout, stderr } = await runCommand(settings, 'doctor')
  assert.equal(code, 1)
  assert.match(stdout, /^critical {2}engine: The engine does not answer.*\n {10}fix: systemctl start docker/)
  assert.match(stdout, /^critical {2}cookie domain: BASE_DOMAIN=github\.io is a public suffix/m)
  assert.match(stdout, /^hint {6}service: Berth does not run/m)
  const levels = [...stdout.matchAll(/^(critical|warning|hint|unknown|ok)/gm)].map(([level]) => level)
  const order = ['critical', 'warning', 'hint', 'unknown', 'ok']
  assert.deepEqual(
    levels,
    levels.toSorted((one, other) => order.indexOf(one) - order.indexOf(other)),
  )
  assert.match(stderr, /^berth: \d+ findings; see above/)
})

test('beside a service that runs doctor asks it, and changes nothing of it', async (t) => {
  const env = { CONTAINER_TEMPLATES: await testTemplates(), HOST_RULES: 'off' }
  const program = runProgram(t, env)
  await program.said(/Berth is ready/)
  const files = () => readdirSync(program.dataDir).sort()
  const before = files()
  const settings = { ...env, DATA_DIR: program.dataDir, TMPDIR: program.temporary }
  const { code, stdout } = await runCommand(settings, 'doctor', '--json', '--fail-on', 'critical')
  const { findings, not_checked, passed } = JSON.parse(stdout) as Report
  assert.deepEqual(not_checked, [])
  for (const check of ['service', 'store', 'images', 'settings', 'cookie domain'])
    assert.ok(passed.includes(check), `${check}: ${stdout}`)
  assert.equal(code, findings.some(({ level }) => level === 'critical') ? 1 : 0)
  assert.deepEqual(files(), before)
})

test('wrong settings are reported, and nothing else is checked', async () => {
  const { code, stdout } = await runCommand({ ...noEngine, DATA_DIR: folder, PORT: 'x' }, 'doctor', '--json')
  assert.equal(code, 1)
  const { findings } = JSON.parse(stdout) as Report
  assert.deepEqual(
    findings.map(({ check, level }) => `${level} ${check}`),
    ['critical settings'],
  )
  assert.match(findings[0]?.what ?? '', /^PORT: /)
})

test('after a backup doctor knows when it was made', onlyLong, async () => {
  const settings = { ...noEngine, DATA_DIR: await makeStore(path.join(folder, 'backup')) }
  const missing = async () => {
    const { stdout } = await runCommand(settings, 'doctor', '--json')
    const { findings } = JSON.parse(stdout) as Report
    return findings.some(({ what }) => what.startsWith('No backup was made'))
  }
  // The keys are made by a start, or by a command that needs them.
  await runCommand(settings, 'keys', 'list')
  assert.equal(await missing(), true)
  const { code, stderr } = await runCommand(settings, 'backup', path.join(folder, 'backups'), '--no-homes')
  assert.equal(code, 0, stderr)
  assert.equal(await missing(), false)
})

test('a level that does not exist is wrong usage', async () => {
  const { code, stderr } = await runCommand({ ...noEngine, DATA_DIR: folder }, 'doctor', '--fail-on', 'all')
  assert.equal(code, 2)
  assert.match(stderr, /Allowed choices are critical, warning, hint/)
})
