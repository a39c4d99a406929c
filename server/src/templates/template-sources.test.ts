import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test, type TestContext } from 'node:test'
import { RuntimeError } from '#/engines/runtime-error.ts'
import { readTemplate } from './read-templates.ts'
import { TemplateSources } from './template-sources.ts'
import type { Template } from './template.ts'

/** Folders `allowed` and `outside`, and links between them. */
function arrange(t: TestContext) {
  const base = mkdtempSync(path.join(tmpdir(), 'berth-sources-'))
  t.after(() => rmSync(base, { recursive: true, force: true }))
  const at = (...parts: string[]) => path.join(base, ...parts)
  for (const folder of ['allowed/data', 'allowed-too', 'outside/data']) mkdirSync(at(folder), { recursive: true })
  symlinkSync(at('outside/data'), at('allowed/out'))
  symlinkSync(at('allowed/data'), at('outside/in'))
  writeFileSync(at('allowed/token'), 'top secret\n')
  writeFileSync(at('allowed/two'), 'one\n\n')
  writeFileSync(at('outside/token'), 'not ours')
  symlinkSync(at('outside/token'), at('allowed/link'))
  const sources = new TemplateSources({ secretsDir: at('allowed'), mountRoots: [at('allowed')] })
  const templateOf = (fields: object): Template => {
    const { template, problems } = readTemplate('lab', { image: 'x', ...fields })
    assert.ok(template, problems.join())
    return template
  }
  const mounting = (folder: string) => templateOf({ mounts: [{ source: { path: folder }, target: '/data' }] })
  const withSecret = (file: string) => templateOf({ secrets: { TOKEN: { file } } })
  const write = (file: string, text: string) => writeFileSync(at(file), text)
  return { at, write, sources, mounting, withSecret, templateOf }
}

const owner = { userId: 1, slug: 'ann' }

test('a folder is mounted where symbolic links lead, if that is below a root', (t) => {
  const { at, sources, mounting } = arrange(t)
  for (const folder of [at('allowed'), at('allowed/data'), at('outside/in'), at('allowed/data/../data')]) {
    assert.deepEqual(sources.problemsOf(mounting(folder)), [], folder)
    const [mount] = sources.mountsOf(mounting(folder), owner)
    assert.deepEqual(mount?.source, { path: folder === at('allowed') ? folder : at('allowed/data') })
  }
  for (const folder of [at('outside'), at('allowed/out'), at('allowed-too'), at('allowed/../outside'), '/', '/etc'])
    assert.match(
      sources.problemsOf(mounting(folder)).join(),
      /^lab: mounts \/data names the path .*, which is not below ALLOWED_MOUNT_ROOTS/,
    )
  assert.match(sources.problemsOf(mounting(at('allowed/none'))).join(), /which does not exist or cannot be read/)
})

test('what is no folder is not mounted, also when it became so after the start', (t) => {
  const { at, sources, mounting, write } = arrange(t)
  symlinkSync(at('allowed/token'), at('outside/to-file'))
  for (const file of [at('allowed/token'), at('outside/to-file')])
    assert.deepEqual(sources.problemsOf(mounting(file)), [`lab: mounts /data names ${file}, which is no folder`])
  const template = mounting(at('allowed/data'))
  assert.equal(sources.mountsOf(template, owner).length, 1)
  rmSync(at('allowed/data'), { recursive: true })
  write('allowed/data', 'a file by now')
  assert.throws(() => sources.mountsOf(template, owner), { name: 'FolderUnusable', message: /which is no folder/ })
})

test('without roots and without a folder of secrets nothing of the host is used', (t) => {
  const { at, mounting, withSecret, templateOf } = arrange(t)
  const none = new TemplateSources({ secretsDir: null, mountRoots: [] })
  assert.match(none.problemsOf(mounting(at('allowed'))).join(), /and ALLOWED_MOUNT_ROOTS is not set$/)
  assert.match(
    none.problemsOf(withSecret('token')).join(),
    /^lab: secrets TOKEN names the path token, and SECRETS_DIR is not set$/,
  )
  assert.deepEqual(none.problemsOf(templateOf({ mounts: [{ source: { volume: 'v1' }, target: '/data' }] })), [])
})

test('a link that is turned out of the roots after the start is refused at the next launch', (t) => {
  const { at, sources, mounting } = arrange(t)
  const template = mounting(at('outside/in'))
  assert.equal(sources.mountsOf(template, owner).length, 1)
  rmSync(at('outside/in'))
  symlinkSync('/etc', at('outside/in'))
  assert.throws(() => sources.mountsOf(template, owner), RuntimeError)
})

test('the password of a registry is read when an image is pulled, and its file is checked before', (t) => {
  const { at, sources, templateOf, write } = arrange(t)
  const template = templateOf({ registry_auth: { username: 'lab', password_file: 'token' } })
  assert.deepEqual(sources.problemsOf(template), [])
  const credentials = sources.credentialsOf(template)
  assert.deepEqual(credentials?.(), { username: 'lab', password: 'top secret' })
  write('allowed/token', 'another')
  assert.equal(credentials?.().password, 'another')
  rmSync(at('allowed/token'))
  assert.throws(() => credentials?.(), RuntimeError)
  assert.match(sources.problemsOf(template).join(), /^lab: registry_auth names the path token, which does not exist/)
  const outside = templateOf({ registry_auth: { username: 'lab', password_file: 'link' } })
  assert.match(sources.problemsOf(outside).join(), /which is not below SECRETS_DIR/)
  assert.equal(sources.credentialsOf(templateOf({})), undefined)
  for (const wrong of [
    'x',
    { username: 'lab' },
    { username: 'a', password_file: 'x', password: 'y' },
    { username: 'a\nb', password_file: 'x' },
  ])
    assert.match(
      readTemplate('lab', { image: 'x', registry_auth: wrong }).problems.join(),
      /^lab: registry_auth must be/,
    )
})

test('a secret is read at each launch, without one line break at its end, and from below its folder alone', (t) => {
  const { at, sources, withSecret } = arrange(t)
  assert.deepEqual(sources.secretsOf(withSecret('token')), { TOKEN: 'top secret' })
  assert.deepEqual(sources.secretsOf(withSecret('two')), { TOKEN: 'one\n' })
  writeFileSync(at('allowed/token'), 'another')
  assert.deepEqual(sources.secretsOf(withSecret(at('allowed/token'))), { TOKEN: 'another' })
  for (const file of ['link', '../outside/token', '/etc/hostname', 'none', 'data']) {
    const problem = sources.problemsOf(withSecret(file)).join()
    assert.match(problem, /^lab: secrets TOKEN names /, file)
    assert.doesNotMatch(problem, /not ours/)
  }
})

/** Mounts of a file server that is away: what is below one of them does not answer. */
class HangingFileServer {
  readonly asked: string[] = []
  readonly #mounts: readonly string[]

  constructor(...mounts: string[]) {
    this.#mounts = mounts
  }

  readonly silentPlace = async (file: string): Promise<string | undefined> => {
    this.asked.push(file)
    return this.#mounts.find((mount) => file.startsWith(mount))
  }
}

test('before a launch looks at secrets and mounts, their file systems are asked, and the one that hangs is named', async (t) => {
  const { at, mounting, withSecret, templateOf } = arrange(t)
  const server = new HangingFileServer(at('allowed'))
  const folders = { secretsDir: at('allowed'), mountRoots: [at('allowed'), at('outside')] }
  const sources = new TemplateSources(folders, server)
  await sources.whenAnswering(templateOf({}))
  assert.deepEqual(server.asked, [])
  const silent = `the file system at ${at('allowed')} does not answer`
  await assert.rejects(sources.whenAnswering(mounting(at('allowed/data'))), {
    message: `lab: ${at('allowed/data')} of its mounts: ${silent}`,
  })
  await assert.rejects(sources.whenAnswering(withSecret('token')), { message: `lab: token of its secrets: ${silent}` })
  assert.deepEqual(server.asked, [at('allowed/data'), at('allowed/token')])
})

// One file server that was away refused the launches of all types with mounts.
test('types whose folders are in another root than that of a file server that is away go on', async (t) => {
  const { at, mounting } = arrange(t)
  const roots = { secretsDir: null, mountRoots: [at('allowed-too'), at('allowed')] }
  const sources = new TemplateSources(roots, new HangingFileServer(at('allowed-too')))
  const local = mounting(at('allowed/data'))
  await sources.whenAnswering(local, owner)
  assert.deepEqual(sources.mountsOf(local, owner)[0]?.source, { path: at('allowed/data') })
  const away = mounting(at('allowed-too'))
  await assert.rejects(sources.whenAnswering(away, owner), /allowed-too does not answer/)
  // Nothing is compared with the silent root, whatever is in it.
  assert.throws(() => sources.mountsOf(away, owner), /which is not below ALLOWED_MOUNT_ROOTS/)
})
