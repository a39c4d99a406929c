import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { assertOk } from '../../support/api-calls.ts'
import { startBerth, type Berth, type Person } from '../../support/berth.ts'
import { buildImage, testImage } from '../../support/engine/engine.ts'
import { execInContainer } from '../../support/engine/exec-in-container.ts'
import { openInstallation } from '../../support/engine/runtimes.ts'
import { onlyLong } from '#test/support/extent.ts'

/** Starter files in the homes of real containers. */

const image = await testImage()

function arrange(t: TestContext) {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-starter-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  for (const folder of ['course/week1', 'bonus']) mkdirSync(at(folder), { recursive: true })
  const write = (files: Record<string, string>) => {
    for (const [name, text] of Object.entries(files)) writeFileSync(at(name), text)
  }
  const start = (files: object[], env = {}) => {
    const templates = { dev: { image, memory: '64m', files } }
    return startBerth(t, { env: { CONTAINER_TEMPLATES: JSON.stringify(templates), ALLOWED_MOUNT_ROOTS: base, ...env } })
  }
  return { at, write, start }
}

/** Runs a script in the person's container. */
async function run(berth: Berth, person: Person, script: string): Promise<string> {
  const name = `${berth.installation}-${person.slug}-dev`
  const found = await berth.runtime.inspect(name)
  assert.equal(found?.state, 'running')
  return (await execInContainer(found.id, script)).trim()
}

const anew = async (person: Person) => assertOk(await person.call('POST', '/api/container/restart'))
const logged = (berth: Berth) => berth.logs.filter((line) => line.includes('starter files')).join('\n')

test('starter files are put there before the start, follow their origin, and never replace what a person changed', async (t) => {
  const { at, write, start } = arrange(t)
  write({ 'course/lab.txt': 'lab 1', 'course/quiz.txt': 'quiz 1', 'course/week1/a.txt': 'a 1', 'bonus/b.txt': 'b 1' })
  const zipped = () => execFileSync('tar', ['-czf', at('data.tar.gz'), '-C', at('bonus'), '.'])
  zipped()
  execFileSync('git', ['init', '--quiet', '--initial-branch=main', at('once')])
  write({ 'once/readme': 'once 1' })
  const who = ['-c', 'user.name=t', '-c', 'user.email=t@x.org']
  const commit = () => {
    execFileSync('git', ['-C', at('once'), 'add', '-A'])
    execFileSync('git', ['-C', at('once'), ...who, 'commit', '--quiet', '-m', 'x'])
  }
  commit()
  const berth = await start([
    { from: { path: at('course') }, to: 'course', update: 'changed' },
    { from: { archive: at('data.tar.gz') }, to: './data/' },
    { from: { git: `file://${at('once')}`, ref: 'main' }, to: '', update: 'never' },
  ])
  const ann = await berth.signUp('ann@x.org')
  const sh = (script: string) => run(berth, ann, script)
  assert.equal(
    await sh(
      'cat course/lab.txt course/week1/a.txt data/b.txt readme; stat -c "%u:%g %A" course course/lab.txt readme',
    ),
    'lab 1a 1b 1once 11000:1000 drwxr-xr-x\n1000:1000 -rw-r--r--\n1000:1000 -rw-r--r--',
  )

  await sh(
    'echo mine > course/lab.txt; echo mine > data/b.txt; rm readme course/week1/a.txt; echo own > course/own.txt',
  )
  write({ 'course/quiz.txt': 'quiz 2', 'course/new.txt': 'new', 'bonus/b.txt': 'b 2', 'bonus/c.txt': 'c' })
  zipped()
  write({ 'once/readme': 'once 2' })
  commit()
  await anew(ann)
  const files = 'course/lab.txt course/quiz.txt course/new.txt course/week1/a.txt data/b.txt data/c.txt'
  assert.equal(await sh(`cat ${files}`), 'mine\nquiz 2newa 1mine\nc')
  assert.equal(await sh('ls -R . | tr "\\n" " "; cat course/own.txt'), treeOf('lab.txt new.txt own.txt quiz.txt'))

  write({ 'course/lab.txt': 'lab 2', 'bonus/b.txt': 'b 3' })
  await anew(ann)
  assert.equal(await sh('cat course/lab.txt course/lab.txt.1 course/own.txt data/b.txt'), 'lab 2mine\nown\nmine')
  await sh('echo again > course/lab.txt')
  write({ 'course/lab.txt': 'lab 3' })
  await anew(ann)
  assert.equal(await sh('cat course/lab.txt course/lab.txt.1 course/lab.txt.2'), 'lab 3mine\nagain')
  assert.match(logged(berth), /"keptBeside":\["course\/lab.txt.2"\]/)
})

const treeOf = (course: string) =>
  `.: course data index.html  ./course: ${course} week1  ./course/week1: a.txt  ./data: b.txt c.txt own`

test('links in a home do not lead the write elsewhere, and what replaced a folder stays', async (t) => {
  const { at, write, start } = arrange(t)
  write({ 'course/lab.txt': 'lab 1', 'course/week1/a.txt': 'a 1' })
  const berth = await start([{ from: { path: at('course') }, to: 'deep/course', update: 'changed' }])
  const ann = await berth.signUp('ann@x.org')
  const sh = (script: string) => run(berth, ann, script)
  await sh('mkdir work; echo thesis > work/thesis; rm deep/course/lab.txt; ln -s ../../work/thesis deep/course/lab.txt')
  await sh(
    'rm -r deep/course/week1; ln -s /tmp deep/course/week1; rm .berth-files.json; ln -s work/thesis .berth-files.json',
  )
  write({ 'course/lab.txt': 'lab 2', 'course/week1/a.txt': 'a 2', 'course/week1/b.txt': 'b' })
  await anew(ann)
  assert.equal(
    await sh(
      'cat work/thesis deep/course/lab.txt; readlink deep/course/lab.txt.1; readlink deep/course/week1; ls /tmp; echo end',
    ),
    'thesis\nlab 2../../work/thesis\n/tmp\nend',
  )
  assert.match(logged(berth), /"leftOut":\["deep\/course\/week1\/a.txt","deep\/course\/week1\/b.txt"\]/)
  await sh('rm -r deep; ln -s /etc deep')
  await anew(ann)
  assert.equal(await sh('readlink deep; ls -1 /etc'), '/etc\nhostname\nhosts\nmtab\nresolv.conf')
})

test('a launch whose starter files are refused fails with words and leaves no container; a home that has its files starts', async (t) => {
  const { at, write, start } = arrange(t)
  write({ 'course/lab.txt': 'lab 1' })
  const pack = (...args: string[]) => execFileSync('tar', ['-cPf', at('course.tar'), '-C', at('course'), ...args])
  pack('lab.txt')
  const berth = await start([{ from: { archive: at('course.tar') }, to: '', update: 'changed' }])
  const ann = await berth.signUp('ann@x.org')
  pack('../../../etc/hostname')
  await anew(ann)
  assert.equal(await run(berth, ann, 'cat lab.txt'), 'lab 1')
  assert.match(logged(berth), /leads out of its folder.*starter files cannot be updated; the home keeps those it has/)

  const bob = await berth.signUp('bob@x.org')
  const refused = await bob.call('POST', '/api/container/launch/dev', { headers: { 'accept-language': 'de' } })
  assert.equal(refused.status, 500)
  assert.match(refused.body.error, /^Die Dateien, die in diesen Container gehören, konnten nicht geholt werden/)
  assert.equal(refused.body.reason, 'failed')
  assert.equal(await berth.runtime.inspect(`${berth.installation}-${bob.slug}-dev`), undefined)
  pack('lab.txt')
  assertOk(await bob.call('POST', '/api/container/launch/dev'))
  assert.equal(await run(berth, bob, 'cat lab.txt'), 'lab 1')
})

test(
  'starter files belong to the account of the image, or to the owner of the home where the image runs as root',
  onlyLong,
  async (t) => {
    const { runtime, spec } = await openInstallation(t)
    const files = runtime.containerFiles()
    assert.ok(files)
    const recipe = (user: string) => `FROM ${image}
USER 0
RUN ["/bin/sh", "-c", "mkdir -p /etc && echo lab:x:1234:4321::/home/berth:/bin/sh > /etc/passwd && chown 1001:1002 /home/berth"]
USER ${user}
`
    const never = new AbortController().signal
    for (const [user, account] of [
      ['lab', { uid: 1234, gid: 4321 }],
      ['1234', { uid: 1234, gid: 4321 }],
      ['77:88', { uid: 77, gid: 88 }],
      ['77', { uid: 77, gid: 0 }],
      ['root', { uid: 1001, gid: 1002 }],
    ] as const) {
      const tag = `berth-test-user-${user.replace(':', '-')}:1`
      await buildImage(tag, recipe(user))
      const { id } = await runtime.create(spec(`user-${user.replace(':', '-')}`, { image: tag }))
      assert.deepEqual(await files.accountFor(id, '/home/berth', never), account, user)
      await runtime.remove(id)
    }
  },
)
