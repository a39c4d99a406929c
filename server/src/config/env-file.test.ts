import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { readSettings } from './env-file.ts'
import { changesSince, saveInEffect } from './settings-reload.ts'

const missing = () => {
  throw Object.assign(new Error('no such file'), { code: 'ENOENT' })
}
const reading = (files: Record<string, string>) => (file: string) => files[file] ?? missing()

test('without a file the environment alone counts; one that is named must be there', () => {
  assert.deepEqual(readSettings({ HOST: 'x' }, missing), { env: { HOST: 'x' }, problems: [], notes: [] })
  const { problems } = readSettings({ BERTH_ENV_FILE: '/etc/berth.env' }, missing)
  assert.deepEqual(problems, ['/etc/berth.env cannot be read: no such file'])
})

test('the file has one KEY=VALUE a line, quotes and comments; the environment wins, and that is reported', () => {
  const file = '# where\nPORT=9000\nSUPPORT_CONTACT="room 12, ask # Ann"\nexport MAIL_FROM=a@x.org\nHOST=0.0.0.0\n'
  const { env, notes } = readSettings({ HOST: '127.0.0.1' }, reading({ 'berth.env': file }))
  assert.deepEqual(
    { ...env },
    { PORT: '9000', SUPPORT_CONTACT: 'room 12, ask # Ann', MAIL_FROM: 'a@x.org', HOST: '127.0.0.1' },
  )
  assert.deepEqual(notes, ['berth.env: HOST has no effect, because the environment sets it, too'])
})

test('a name that is no setting is reported, every setting of the configuration is known', () => {
  const { notes } = readSettings(
    {},
    reading({ 'berth.env': 'SMTP_ULR=smtp://x\nMETRICS_TOKEN=x\nCONTAINER_TEMPLATES={}\n' }),
  )
  assert.deepEqual(notes, ['berth.env: SMTP_ULR is no setting of Berth'])
})

test('a secret setting may be in a file of its own: not beside its value, and an unusable file is a problem', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-secrets-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [token, open] = [path.join(folder, 'token'), path.join(folder, 'open')]
  writeFileSync(token, 'hush\n', { mode: 0o600 })
  writeFileSync(open, 'hush\n', { mode: 0o644 })
  const given = { METRICS_TOKEN_FILE: token, DATABASE_URL: '' }
  assert.deepEqual(readSettings(given, missing).env, { METRICS_TOKEN: 'hush', DATABASE_URL: '' })
  const file = `METRICS_TOKEN=other\nSMTP_URL_FILE=${open}\nDATABASE_URL_FILE=${folder}/none\nHOST_FILE=x\n`
  const { problems, notes, env } = readSettings(given, reading({ 'berth.env': file }))
  assert.deepEqual(notes, ['berth.env: HOST_FILE is no setting of Berth'])
  assert.deepEqual(problems, [
    `DATABASE_URL_FILE: there is no file ${folder}/none`,
    `SMTP_URL_FILE: every account of this machine can use ${open}. Run: chmod o= ${open} (a secret of Compose, Swarm or Kubernetes: mount it with mode 0400)`,
    'METRICS_TOKEN and METRICS_TOKEN_FILE: set one of them, not both',
  ])
  assert.equal(env.SMTP_URL, undefined)
})

test('changed settings are reported by name, what needs a restart stays as it was, and no value is written down', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-settings-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const first = { HOST: '127.0.0.1', SMTP_URL: 'smtp://user:secret@x', LOG_LEVEL: 'info' }
  assert.deepEqual(changesSince(folder, first), { env: first, taken: [], needRestart: [] })
  saveInEffect(folder, first)
  const file = path.join(folder, 'settings.json')
  assert.doesNotMatch(readFileSync(file, 'utf8'), /secret/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const next = changesSince(folder, { HOST: '0.0.0.0', PORT: '1', LOG_LEVEL: 'debug', MAIL_FROM: 'a@x.org' })
  assert.deepEqual(next.taken, ['LOG_LEVEL', 'MAIL_FROM', 'SMTP_URL'])
  assert.deepEqual(next.needRestart, ['HOST', 'PORT'])
  assert.equal(next.env.HOST, '127.0.0.1')
  assert.equal(next.env.PORT, undefined)
  saveInEffect(folder, next.env)
  // Told at each SIGHUP until it is restarted; what was taken is news once.
  assert.deepEqual(changesSince(folder, { ...next.env, HOST: '0.0.0.0' }).needRestart, ['HOST'])
  assert.deepEqual(changesSince(folder, { ...next.env, HOST: '0.0.0.0' }).taken, [])
})

// It was taken by SIGHUP: another engine under the open connections to the containers of this one.
test('the engine stays the one of the start, also when an earlier version let it change', (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'berth-settings-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [first, other] = [{ DOCKER_HOST: 'unix:///run/a.sock' }, { DOCKER_HOST: 'unix:///run/b.sock' }]
  saveInEffect(folder, first)
  const after = (env: Record<string, string>) => {
    const changes = changesSince(folder, env)
    return [changes.env.DOCKER_HOST, changes.taken, changes.needRestart]
  }
  assert.deepEqual(after(other), [first.DOCKER_HOST, [], ['DOCKER_HOST']])
  assert.deepEqual(after({}), [first.DOCKER_HOST, [], ['DOCKER_HOST']])
  // As such a version wrote it: an upgrade by SIGHUP goes on with the value that is set.
  const sha256 = createHash('sha256').update(first.DOCKER_HOST).digest('base64')
  writeFileSync(path.join(folder, 'settings.json'), JSON.stringify({ kept: {}, hashes: { DOCKER_HOST: sha256 } }))
  assert.deepEqual(after(first), [first.DOCKER_HOST, [], []])
  assert.deepEqual(after(other), [other.DOCKER_HOST, ['DOCKER_HOST'], []])
})

test('a setting that counts with another one alone is named while that is not set', () => {
  // With ACCESS_LOG_FILE alone an installation had no access log, and nothing said so.
  const settings = { ACCESS_LOG_FILE: '/var/log/berth.log', NODE_SECRET: 'hush', KUBERNETES_NAMESPACE: 'berth' }
  assert.deepEqual(readSettings(settings, missing).notes, [
    'NODE_SECRET has no effect: NODE_ADDRESS is not set',
    'KUBERNETES_NAMESPACE has no effect: ENGINE is not kubernetes',
    'ACCESS_LOG_FILE has no effect: ACCESS_LOG is off, and no request is logged',
  ])
  const complete = { ...settings, ACCESS_LOG: 'json', NODE_ADDRESS: '10.0.0.5:7070', ENGINE: 'kubernetes' }
  assert.deepEqual(readSettings(complete, missing).notes, [])
})
