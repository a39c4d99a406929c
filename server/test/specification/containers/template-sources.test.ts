// Part of npm run test:more: variants of sources; `template-fields.test.ts` has each field.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '#/config/config.ts'
import { assertOk } from '../../support/api-calls.ts'
import { startBerth, type Person } from '../../support/berth.ts'
import { testImage } from '../../support/engine/engine.ts'

/** Secrets, folders and starter files of a template that change after the start of Berth, and real containers of them. */

const image = await testImage()

/** A folder `base` that is the root of mounts and of secrets, and a Berth with one template. */
async function arrange(t: TestContext, fields: (base: string) => object) {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-template-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  mkdirSync(at('course'))
  writeFileSync(at('course/lab.txt'), 'lab 1')
  writeFileSync(at('token'), 'of-the-course\n')
  symlinkSync(at('course'), at('link'))
  const templates = { plain: { image, memory: '64m' }, dev: { image, memory: '64m', ...fields(base) } }
  const settings = { CONTAINER_TEMPLATES: JSON.stringify(templates), ALLOWED_MOUNT_ROOTS: base, SECRETS_DIR: base }
  const berth = await startBerth(t, { env: settings })
  const ann = await berth.signUp('ann@x.org')
  const launch = (person: Person = ann) => person.call('POST', '/api/container/launch/dev')
  const read = async (file: string) => (await ann.call('GET', `/${ann.slug}-dev/${file}`)).text
  return { at, berth, ann, launch, read }
}

type Arranged = Awaited<ReturnType<typeof arrange>>

/** The launch fails with words for the owner, and its reason is in the log; no container is left. */
async function assertNotLaunched({ berth, ann, launch }: Arranged, reason: RegExp): Promise<void> {
  const refused = await launch()
  assert.equal(refused.status, 500, refused.text)
  assert.match(refused.body.error, /^[A-Z].*\.$/)
  assert.match(berth.logs.join('\n'), reason)
  assert.equal(await berth.runtime.inspect(`${berth.installation}-${ann.slug}-dev`), undefined)
}

test('a secret whose file is gone since the start keeps containers from starting until it is there again', async (t) => {
  const serve = ['/bin/sh', '-c', 'mkdir /tmp/w; printf "%s|" "$TOKEN" > /tmp/w/token; exec httpd -f -p 8080 -h /tmp/w']
  const arranged = await arrange(t, () => ({ secrets: { TOKEN: { file: 'token' } }, command: serve }))
  const { at, launch, read, berth } = arranged
  rmSync(at('token'))
  await assertNotLaunched(arranged, /secrets TOKEN names .*token, which does not exist or cannot be read/)
  writeFileSync(at('token'), 'another\n\n')
  assertOk(await launch())
  assert.equal(await read('token'), 'another\n|', 'one line break is cut')
  assert.ok(!berth.logs.join('').includes('another'))
})

test('a folder whose link leads out of the roots since the start is not mounted', async (t) => {
  const arranged = await arrange(t, (base) => ({
    mounts: [{ source: { path: path.join(base, 'link') }, target: '/home/berth/course' }],
  }))
  const { at, launch, read } = arranged
  rmSync(at('link'))
  symlinkSync('/etc', at('link'))
  await assertNotLaunched(arranged, /mounts \/home\/berth\/course names .*, which is not below ALLOWED_MOUNT_ROOTS/)
  rmSync(at('link'))
  symlinkSync(at('course'), at('link'))
  assertOk(await launch())
  assert.equal(await read('course/lab.txt'), 'lab 1')
})

test('starter files come from a zip archive and from behind a link; missing ones come back, and changed ones are left alone', async (t) => {
  const { at, ann, launch, read } = await arrange(t, (base) => {
    // Python is on each machine of Debian; zip and unzip are not.
    execFileSync('python3', ['-m', 'zipfile', '-c', path.join(base, 'data.zip'), path.join(base, 'course/lab.txt')])
    return {
      files: [
        { from: { archive: path.join(base, 'data.zip') }, to: 'data' },
        { from: { path: path.join(base, 'link') }, to: 'course' },
      ],
    }
  })
  writeFileSync(at('course/more.txt'), 'more')
  assertOk(await launch())
  assert.deepEqual(
    [await read('data/lab.txt'), await read('course/lab.txt'), await read('course/more.txt')],
    ['lab 1', 'lab 1', 'more'],
  )
  writeFileSync(at('course/lab.txt'), 'lab 2')
  writeFileSync(at('course/late.txt'), 'late')
  assertOk(await ann.call('POST', '/api/container/restart/dev'))
  assert.deepEqual([await read('course/lab.txt'), await read('course/late.txt')], ['lab 1', 'late'])
})

test('paths that are nowhere or below no root are named when Berth starts, each with its template, field and setting', () => {
  const base = path.dirname(import.meta.filename)
  const problemsOf = (fields: object, env: Record<string, string> = {}) => {
    const CONTAINER_TEMPLATES = JSON.stringify({ dev: { image, ...fields } })
    const settings = { CONTAINER_TEMPLATES, ALLOWED_MOUNT_ROOTS: base, SECRETS_DIR: base, ...env }
    return readConfig(settings, (file) => readFileSync(file, 'utf8')).problems.join('\n')
  }
  const folder = { source: { path: '/etc' }, target: '/data' }
  const account = (password_file: string) => ({ registry_auth: { username: 'lab', password_file } })
  for (const [problem, words] of [
    [problemsOf({ files: [{ from: { archive: '/etc/a.zip' } }] }), /dev: files names .*\/etc\/a\.zip, which/],
    [problemsOf({ files: [{ from: { path: '/etc' } }] }), /dev: files names .*\/etc, which is not below ALLOWED_MOUNT/],
    [problemsOf({ mounts: [folder] }), /dev: mounts \/data names .*\/etc, which is not below ALLOWED_MOUNT_ROOTS/],
    [problemsOf({ mounts: [folder] }, { ALLOWED_MOUNT_ROOTS: '' }), /\/etc, and ALLOWED_MOUNT_ROOTS is not set/],
    [problemsOf({ secrets: { KEY: { file: 'none' } } }), /dev: secrets KEY names .*none, which does not exist/],
    [problemsOf({ secrets: { KEY: { file: '/etc/hostname' } } }), /hostname, which is not below SECRETS_DIR/],
    [problemsOf(account('none')), /dev: registry_auth names .*none, which does not exist/],
    [problemsOf(account('none'), { SECRETS_DIR: '' }), /none, and SECRETS_DIR is not set/],
  ] as const)
    assert.match(problem, words)
})
