import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { after, test } from 'node:test'
import { assertOk } from '#test/support/api-calls.ts'
import { testTemplates } from '#test/support/berth.ts'
import { execInContainer } from '#test/support/engine/exec-in-container.ts'
import { sshArgs, startSsh } from './ssh-rig.ts'

/** Shared homes and folders of groups (contract, section 15) by SSH and SFTP (section 17). */

const templates = await testTemplates({ home_of: 'user', group_folders: '/groups', user: '1000:1000' })
const rig = await startSsh({ after }, { env: { CONTAINER_TEMPLATES: templates } })
const { berth } = rig
const boss = await berth.administrator()
const [teacher, student] = [await rig.signUp('teacher@x.org'), await rig.signUp('student@x.org')]
const keys = new Map([teacher, student].map((person) => [person, rig.makeKey(person.slug, '-t', 'ed25519')]))
for (const [person, key] of keys) await rig.addKey(person, key)
const keyOf = (person: typeof teacher) => keys.get(person) ?? ''
const made = await boss.call('POST', '/api/admin/groups', { body: { name: 'Physics' } })
assertOk(made)
const { id } = made.body.group
for (const [email, role] of [
  ['teacher@x.org', 'manager'],
  ['student@x.org', 'member'],
])
  assertOk(await boss.call('POST', `/api/groups/${id}/members`, { body: { emails: [email], role } }))
assertOk(await teacher.call('PUT', `/api/groups/${id}/folder`, { body: { name: 'physics', members: 'read' } }))
// The containers of sign-ups have started before there was a folder.
for (const person of [teacher, student]) assertOk(await person.call('POST', '/api/container/restart/dev', { body: {} }))

const local = path.join(rig.folder, 'task.txt')
writeFileSync(local, 'task')
const sftp = (person: typeof teacher, type: string, ...lines: string[]) =>
  rig.run(
    'sftp',
    [...rig.options(keyOf(person)), '-P', String(rig.port), '-b', '-', `${person.slug}-${type}@127.0.0.1`],
    lines.join('\n'),
  )

test('a manager puts a file into the folder of the group, a member reads it and is refused with words', async () => {
  const put = await sftp(teacher, 'dev', `put ${local} /groups/physics/task.txt`)
  assert.equal(put.code, 0, put.errors)
  const got = await sftp(student, 'dev', `get /groups/physics/task.txt ${local}.of-student`)
  assert.equal(got.code, 0, got.errors)
  for (const line of [
    `put ${local} /groups/physics/mine.txt`,
    'rm /groups/physics/task.txt',
    'mkdir /groups/physics/own',
    'rename /groups/physics/task.txt /groups/physics/other.txt',
  ]) {
    const refused = await sftp(student, 'dev', line)
    assert.notEqual(refused.code, 0, line)
    assert.match(refused.errors, /read-only|permission denied/i, line)
  }
  const shell = await rig.run('ssh', sshArgs(rig, keyOf(student), `${student.slug}-dev`, 'ls /groups/physics'))
  assert.equal(shell.output.toString().trim(), 'task.txt')
})

test('what is put into one type by SFTP is in the home of the other', async () => {
  const put = await sftp(student, 'dev', `put ${local} by-sftp.txt`)
  assert.equal(put.code, 0, put.errors)
  const launched = await student.call('POST', '/api/container/launch/prod')
  assertOk(launched)
  assert.match(await execInContainer(launched.body.container_id, 'ls /home/berth'), /by-sftp\.txt/)
})
