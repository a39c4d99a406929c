import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
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

test('the file has one KEY=VALUE a line, quotes and comments; the environment wins, and that is told', () => {
  const file = '# where\nPORT=9000\nSUPPORT_CONTACT="room 12, ask # Ann"\nexport MAIL_FROM=a@x.org\nHOST=0.0.0.0\n'
  const { env, notes } = readSettings({ HOST: '127.0.0.1' }, reading({ 'berth.env': file }))
  assert.deepEqual(
    { ...env },
    { PORT: '9000', SUPPORT_CONTACT: 'room 12, ask # Ann', MAIL_FROM: 'a@x.org', HOST: '127.0.0.1' },
  )
  assert.deepEqual(notes, ['berth.env: HOST has no effect, because the environment sets it, too'])
})

test('a name that is no setting is told, every setting of the configuration is known', () => {
  const { notes } = readSettings(
    {},
    reading({ 'berth.env': 'SMTP_ULR=smtp://x\nMETRICS_TOKEN=x\nCONTAINER_TEMPLATES={}\n' }),
  )
  assert.deepEqual(notes, ['berth.env: SMTP_ULR is no setting of Berth'])
})

test('what changed is told by name, what needs a restart stays as it was, and no value is written down', (t) => {
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
