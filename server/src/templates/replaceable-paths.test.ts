import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { readConfig } from '#/config/config.ts'

/** Settings as at a start, and after a reload; a folder `srv` is the root of mounts. */
function arrange(t: TestContext) {
  const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'berth-replaceable-')))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  for (const folder of [
    'srv/common/data/deep',
    'srv/common-too',
    'srv/beside',
    'srv/course/dropbox',
    'kept',
    'secrets',
  ])
    mkdirSync(at(folder), { recursive: true })
  for (const file of ['srv/common/files.tar', 'srv/common/token', 'srv/common/brand.yaml', 'srv/files.tar'])
    writeFileSync(at(file), '')
  const problemsOf = (templates: Record<string, object>, settings: Record<string, string> = {}): string[] => {
    const named = Object.entries(templates).map(([type, fields]) => [type, { image: 'x', ...fields }])
    const env = {
      CONTAINER_TEMPLATES: JSON.stringify(Object.fromEntries(named)),
      ALLOWED_MOUNT_ROOTS: at('srv'),
      SECRETS_DIR: at('secrets'),
      DATA_DIR: at('kept'),
      ...settings,
    }
    return readConfig(env, () => '').problems
  }
  const mount = (folder: string, readOnly = true, target = '/data') => ({
    source: { path: at(folder) },
    target,
    read_only: readOnly,
  })
  const writing = (folder: string) => ({ mounts: [mount(folder, false, '/shared')] })
  return { at, problemsOf, mount, writing }
}

test('a mount below one that another template, or the same one, mounts writable is refused, with both named and the way out', (t) => {
  const { at, problemsOf, mount, writing } = arrange(t)
  const [problem, ...others] = problemsOf({ a: writing('srv/common'), b: { mounts: [mount('srv/common/data')] } })
  assert.deepEqual(others, [])
  assert.match(
    problem ?? '',
    /\bb: mounts \/data names \S+\/data, which is below \S+\/common, and a mounts .* writable at \/shared: /,
  )
  assert.match(problem ?? '', /Mount \S+\/common with read_only: true in a, or move one of the two out of the other$/)
  const same = {
    lab: { mounts: [mount('srv/common', false, '/shared'), mount('srv/common/data/deep', false, '/deep')] },
  }
  assert.match(problemsOf(same).join(), /lab: mounts \/deep names .* and lab mounts /)
  assert.equal(problemsOf({ a: writing('srv/common'), b: writing('srv/common/data') }).length, 1)
  assert.ok(at('srv'))
})

test('what cannot be replaced is allowed: the same folder, folders beside, and what is below a read-only mount', (t) => {
  const { problemsOf, mount, writing } = arrange(t)
  const readOnly = (folder: string) => ({ mounts: [mount(folder)] })
  for (const templates of [
    { a: writing('srv/common'), b: writing('srv/common'), c: readOnly('srv/common') },
    { a: writing('srv/common'), b: readOnly('srv/common-too') },
    { a: readOnly('srv/common'), b: writing('srv/common/data'), c: readOnly('srv') },
    { a: writing('srv/course/dropbox'), b: { files: [{ from: { path: 'common' } }] } },
  ])
    assert.deepEqual(problemsOf(templates), [], JSON.stringify(templates))
})

test('a symbolic link counts where it is, and where it leads', (t) => {
  const { at, problemsOf, mount, writing } = arrange(t)
  symlinkSync(at('srv/common/data'), at('srv/to-data'))
  symlinkSync(at('srv/common'), at('srv/to-common'))
  // The link itself can be turned by those who write to `common`, although it leads out of it.
  symlinkSync('../beside', at('srv/common/out'))
  symlinkSync('common/out/.', at('srv/twice'))
  for (const folder of ['srv/to-data', 'srv/to-common/data', 'srv/common/out', 'srv/twice', 'srv/common/../common/out'])
    assert.match(
      problemsOf({ a: writing('srv/to-common'), b: { mounts: [mount(folder)] } }).join(),
      /which is below/,
      folder,
    )
  assert.deepEqual(problemsOf({ a: writing('srv/common'), b: { mounts: [mount('srv/to-common')] } }), [])
  symlinkSync(at('srv/loop'), at('srv/loop'))
  assert.match(
    problemsOf({ a: writing('srv/common'), b: { mounts: [mount('srv/loop')] } }).join(),
    /cannot be read .ELOOP/,
  )
})

test('starter files, secrets, roots, devices, and what settings name, are not below a writable mount either', (t) => {
  const { at, problemsOf, writing } = arrange(t)
  const a = writing('srv/common')
  for (const [expected, fields, settings] of [
    [/b: files names \S+, which is below/, { files: [{ from: { archive: at('srv/common/files.tar') } }] }, {}],
    [/b: files names \S+, which is below/, { files: [{ from: { path: at('srv/common/data') } }] }, {}],
    [/b: files names \S+, in which \S+common is/, { files: [{ from: { path: at('srv/common') } }] }, {}],
    [/b: files names \S+, in which \S+common is/, { files: [{ from: { path: at('srv') } }] }, {}],
    [
      /b: files names file:\S+, which is below/,
      { files: [{ from: { git: `file://${at('srv/common/course.git')}` } }] },
      {},
    ],
    [/b: secrets T names token, which/, { secrets: { T: { file: 'token' } } }, { SECRETS_DIR: at('srv/common') }],
    [
      /b: registry_auth names token, which/,
      { registry_auth: { username: 'x', password_file: 'token' } },
      { SECRETS_DIR: at('srv/common') },
    ],
    [/ALLOWED_MOUNT_ROOTS has \S+\/data, which/, {}, { ALLOWED_MOUNT_ROOTS: `${at('srv')},${at('srv/common/data')}` }],
    [/a: BRANDING_FILE is \S+brand.yaml, which/, {}, { BRANDING_FILE: at('srv/common/brand.yaml') }],
    [
      /a: ACCESS_LOG_FILE is \S+access.log, which/,
      {},
      { ACCESS_LOG: 'json', ACCESS_LOG_FILE: at('srv/common/access.log') },
    ],
    [/a: ARCHIVE_DIR is \S+archives, which/, {}, { ARCHIVE_DIR: at('srv/common/archives') }],
    [/a: DATA_DIR is \S+data, which/, {}, { DATA_DIR: at('srv/common/data') }],
    [/a: DOCKER_HOST is \S+engine.sock, which/, {}, { DOCKER_HOST: `unix://${at('srv/common/engine.sock')}` }],
  ] as const) {
    const found = problemsOf({ a, b: fields }, settings).join('\n')
    assert.match(found, expected)
    assert.match(found, /Mount \S+\/common with read_only: true in a, or move one of the two out of the other/)
  }
  assert.deepEqual(problemsOf({ a, b: { files: [{ from: { archive: at('srv/files.tar') } }] } }), [])
})

test('the data folder and the folder of archives are shown to no container, also read-only, and not written to by any', (t) => {
  const { at, problemsOf, mount, writing } = arrange(t)
  mkdirSync(at('srv/berth/own'), { recursive: true })
  for (const name of ['DATA_DIR', 'ARCHIVE_DIR']) {
    const settings = { [name]: at('srv/berth') }
    for (const folder of ['srv', 'srv/berth'])
      assert.match(
        problemsOf({ a: { mounts: [mount(folder)] } }, settings).join(),
        new RegExp(`^[^\\n]*a: mounts /data names \\S+, in which ${name} `),
        folder,
      )
    assert.match(problemsOf({ a: { files: [{ from: { path: at('srv') } }] } }, settings).join(), /a: files names/)
    assert.match(problemsOf({ a: writing('srv/berth/own') }, settings).join(), new RegExp(`${name} is .*, in which`))
    assert.deepEqual(problemsOf({ a: { mounts: [mount('srv/berth/own')] } }, settings), [])
  }
})
